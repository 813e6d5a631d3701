import Images
import MediaTime
import RetrogradeEngine

/// Computes when the frames of an animation are shown in a format that limits their durations. A
/// frame that is too short moves later frames, until longer frames make up for it. A frame that is
/// too long is cut, and all later frames are shown earlier.
struct AnimationClock: Sendable {
  private let format: AnimationFormat
  /// Earliest possible start of the next frame.
  private var earliest = ClockTime.zero
  /// Time by which the next frames start earlier, because frames before them were cut.
  private var cut = ClockTime.zero
  /// Number of frames that were cut, and the longest intended duration.
  private var long = (count: 0, most: ClockTime.zero)
  /// Number of frames that start late by more than the shortest duration of a frame, and the
  /// longest delay.
  private var late = (count: 0, most: ClockTime.zero)

  init(_ format: AnimationFormat) { self.format = format }

  /// Returns the time span in the file of the next frame.
  /// - Parameter shown: intended time span, from the start of the file.
  mutating func place(_ shown: TimeSpan) -> TimeSpan {
    let start = max(shown.start - cut, earliest)
    let delay = start - (shown.start - cut)
    if delay > format.shortest { late = (late.count + 1, max(late.most, delay)) }
    let wanted = max(shown.end - cut - start, format.shortest)
    let held = storable(wanted)
    if wanted > format.longest { long = (long.count + 1, max(long.most, wanted)) }
    cut = cut + (wanted - held)
    earliest = start + format.shortest
    return TimeSpan(start: start, end: start + held)
  }

  /// Returns the nearest duration that the format can store, apart from the rounding to its unit.
  private func storable(_ duration: ClockTime) -> ClockTime {
    let duration = min(duration, format.longest)
    guard format == .apng, duration.milliseconds > 65_535 else { return duration }
    let (numerator, denominator) = APNGChunks.delay(duration.milliseconds)
    return ClockTime(nanoseconds: Int64(numerator) * 1_000_000_000 / Int64(denominator))
  }

  /// Warnings about the frames so far.
  var warnings: [Warning] {
    var found: [Warning] = []
    if long.count > 0 {
      let most = (long.count == 1 ? "" : "up to ") + long.most.inSeconds
      found.append(
        Warning(
          .converted,
          "changed: \(counted(long.count, "frame")) \(long.count == 1 ? "is" : "are") shown for "
            + "\(format.longest.inSeconds) instead of \(most), since \(format.name) can't store more",
          count: long.count))
    }
    if late.count > 0 {
      found.append(
        Warning(
          .converted,
          "changed: \(counted(late.count, "frame")) \(late.count == 1 ? "is" : "are") shown up to "
            + "\(late.most.inSeconds) too late, since players show each frame of a \(format.name) for at least "
            + "\(format.shortest.inSeconds)",
          count: late.count))
    }
    return found
  }
}

extension AnimationFormat {
  /// Returns the number of frames that are left out because they exceed the highest frame rate of
  /// the format, and the number of all frames; nil if none are left out, or if a lower frame rate
  /// was requested.
  func leftOut(
    _ video: VideoSource, _ legs: PlaybackLegs, _ playback: PlaybackOptions
  ) -> (count: Int, all: Int)? {
    guard let fastest, playback.frameRate.map({ $0.value > fastest.value }) ?? true,
      legs.frameRate != nil || video.shown.isThinned,
      let dropped = VideoPlayer.dropped(video, legs, timing: playback.timing), dropped.count > 0
    else { return nil }
    return dropped
  }

  /// Reason why frames are left out.
  var rateLimit: String {
    let most = fastest.map { Int($0.value.rounded()) } ?? 0
    return "players show at most \(most) frames per second of a \(name)"
  }
}
