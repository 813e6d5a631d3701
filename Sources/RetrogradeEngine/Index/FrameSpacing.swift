import GStreamer
import MediaTime

/// Frame spacing of a video.
struct FrameSpacing: Sendable {
  /// Median time between the last frames.
  private let median: ClockTime
  /// True if the last frames have the same duration, except for rounding in containers.
  private let isConstant: Bool
  /// Frames per second if all frames are evenly spaced; nil otherwise.
  private let rate: FrameRate?

  /// Number of frame intervals before the last frame that determine the last frame's duration. The
  /// number is limited, so that a pass over only the end of a source gets the same result.
  static let length = 100
  /// Largest difference that can result from rounding in containers.
  static let rounding = ClockTime.milliseconds(2)

  /// - Parameter times: start times of the frames, ascending.
  init(_ times: [ClockTime]) {
    let last = times.suffix(FrameSpacing.length + 1)
    let gaps = zip(last, last.dropFirst()).map { $1 - $0 }.sorted()
    let median = gaps.isEmpty ? .milliseconds(40) : gaps[gaps.count / 2]
    let isConstant = gaps.count > 1 && (gaps.last ?? .zero) - (gaps.first ?? .zero) < FrameSpacing.rounding
    let isEven =
      isConstant
      && zip(times, times.dropFirst()).allSatisfy {
        let gap = $1 - $0
        return max(gap, median) - min(gap, median) < FrameSpacing.rounding
      }
    let whole = (times.last ?? .zero) - (times.first ?? .zero)
    rate = isEven ? FrameRate(guessing: ClockTime(nanoseconds: whole.nanoseconds / Int64(times.count - 1))) : nil
    (self.median, self.isConstant) = (median, isConstant)
  }

  /// Returns the duration of the last frame.
  /// - Parameters:
  ///   - own: duration of the last packet; nil if unknown.
  ///   - isDeclared: true if the container declares the duration. A duration from a parser is used
  ///     only if the frames are not evenly spaced.
  func lastDuration(_ own: ClockTime?, isDeclared: Bool) -> ClockTime {
    // Parsers mistake the time base of variable-rate video for its frame rate. No real frame is
    // shorter than a millisecond, so ignore shorter durations.
    guard let own, own >= .milliseconds(1) else { return median }
    guard isConstant else { return own }
    let isLikeTheOthers = max(own, median) - min(own, median) < FrameSpacing.rounding
    return isDeclared && !isLikeTheOthers ? own : median
  }

  /// Returns `caps` with a plausible frame rate.
  ///
  /// Encoders of variable-rate video write the time base as the rate: 1000, 90000 or 10⁹. Before
  /// 1.24, h264parse outputs this rate (`Quirk.h264parseTimeBase`). AVI would derive all times from
  /// this rate, mp4mux would use it as a 32-bit timescale, and the last frame would be too short to
  /// see.
  func withPlausibleRate(_ caps: Caps) -> Caps {
    guard let named = caps.fraction("framerate"), named.numerator > 0, named.denominator > 0 else { return caps }
    let value = Double(named.numerator) / Double(named.denominator)
    guard value > FrameSpacing.usual, value * median.seconds > FrameSpacing.excess else { return caps }
    return caps.setting("framerate", "(fraction)\(rate?.description ?? "0/1")")
  }

  /// Highest rate that is always trusted. Screen recorders declare rates up to this value, although
  /// they record fewer frames per second.
  private static let usual = 120.0
  /// Largest plausible ratio of a declared rate to the measured rate.
  private static let excess = 3.0
}
