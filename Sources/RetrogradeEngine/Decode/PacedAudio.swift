import GStreamer
import MediaTime

/// Audio of a leg (one step of the order of play) that holds a frame, is muted, or is played at
/// another speed. The audio is as long as the leg, exact to the sample.
struct PacedAudio: LegAudio {
  private let track: AudioTrack
  private let leg: PlaybackLeg
  private let whole: PlaybackLeg
  private let legs: PlaybackLegs
  private let partSize: Int
  /// Sample frames of the leg (`range`), and sample frames during which its audio plays (`moving`).
  /// Both are counted from the start of the output.
  private let range: Range<Int>
  private let moving: Range<Int>
  /// Length, in sample frames, of the fade-in or fade-out if the audio begins or ends within the
  /// leg.
  private let fade: Int
  private var done = 0
  private var samples: (any PacedSamples)?
  private let keepsPitch: Bool
  /// Source position at which reading begins. Reading continues in the direction of the leg's
  /// audio.
  private let place: ClockTime

  /// - Parameter leg: part of `whole` to output.
  init(_ track: AudioTrack, _ leg: PlaybackLeg, of whole: PlaybackLeg, in legs: PlaybackLegs, partSize: Int) {
    (self.track, self.leg, self.partSize, keepsPitch) = (track, leg, partSize, legs.keepsPitch)
    (self.whole, self.legs) = (whole, legs)
    let past = leg.direction == .forward ? leg.span.start - whole.span.start : whole.span.end - leg.span.end
    place = leg.playedLeg.direction == .forward ? whole.span.start + past : whole.span.end - past
    func samples(_ span: TimeSpan) -> Range<Int> {
      let first = span.start.sampleIndex(rate: track.rate)
      return first..<max(first, span.end.sampleIndex(rate: track.rate))
    }
    range = samples(TimeSpan(start: leg.start, end: leg.end))
    moving = leg.audio == .mute ? range.upperBound..<range.upperBound : samples(leg.moving).clamped(to: range)
    fade = legs.joint.sampleIndex(rate: track.rate)
  }

  var count: Int { range.count }
  var left: Int { range.count - done }

  /// Skips sample frames. If pitch changes with speed, reading can restart at any position. If
  /// pitch is kept, each sample depends on all earlier samples of the leg, so the skipped samples
  /// are read.
  mutating func skip(_ count: Int) throws {
    let from = ClockTime(sampleIndex: range.lowerBound + done + count, rate: track.rate)
    if samples == nil, !keepsPitch, let rest = leg.clipped(from: from, to: leg.end) {
      let later = PacedAudio(track, rest, of: whole, in: legs, partSize: partSize)
      if later.range.upperBound == range.upperBound, later.range.lowerBound == range.lowerBound + done + count {
        self = later
        return
      }
    }
    var left = count
    while left > 0 {
      let size = min(partSize, left)
      _ = try take(range.lowerBound + done..<range.lowerBound + done + size)
      done += size
      left -= size
    }
  }

  mutating func next() throws -> AudioPart? {
    guard done < count else { return nil }
    let size = min(partSize, count - done)
    defer { done += size }
    let samples = try take(range.lowerBound + done..<range.lowerBound + done + size)
    let shown = TimeSpan(
      start: ClockTime(sampleIndex: range.lowerBound + done, rate: track.rate),
      end: ClockTime(sampleIndex: range.lowerBound + done + size, rate: track.rate))
    let buffer = try Buffer(size: samples.count) { $0.copyBytes(from: samples) }
    return AudioPart(buffer: buffer, shown: shown, count: size)
  }

  /// Returns nil; never called. Descending output is supported only if all legs are natural
  /// (``PlaybackLeg/isNatural``), and natural legs use ``AudioReader``.
  mutating func nextFromEnd() throws -> AudioPart? { nil }

  mutating func read(_ count: Int) throws -> [UInt8] {
    moving.upperBound == range.upperBound ? try nextFrames(count) : track.silence(count)
  }

  /// Returns the sample frames of `part`, a range of the output. Each call must continue where the
  /// previous call ended.
  private mutating func take(_ part: Range<Int>) throws -> [UInt8] {
    let (from, to) = (part.clamped(to: moving).lowerBound, part.clamped(to: moving).upperBound)
    guard from < to else { return try ending(part, track.silence(part.count)) }
    var samples = try track.silence(from - part.lowerBound) + nextFrames(to - from)
    if from == moving.lowerBound, moving.lowerBound > range.lowerBound {
      let silence = track.silence(min(fade, to - from))
      samples = try Crossfade.mix(silence, into: samples, at: from - part.lowerBound, track)
    }
    return try ending(part, samples + track.silence(part.upperBound - to))
  }

  /// Returns `samples`. If the leg's audio stops within `part`, a fade-out of the audio is mixed
  /// in.
  private mutating func ending(_ part: Range<Int>, _ samples: [UInt8]) throws -> [UInt8] {
    guard !moving.isEmpty, moving.upperBound < part.upperBound, part.lowerBound <= moving.upperBound else {
      return samples
    }
    let tail = try nextFrames(min(fade, part.upperBound - moving.upperBound))
    return try Crossfade.mix(tail, into: samples, at: moving.upperBound - part.lowerBound, track)
  }

  /// Returns the next `count` sample frames of the leg's audio; silence if the leg is muted.
  private mutating func nextFrames(_ count: Int) throws -> [UInt8] {
    guard leg.audio != .mute, count > 0 else { return track.silence(count) }
    let samples = try samples ?? pacedSamples()
    self.samples = samples
    return try samples.take(count)
  }

  private func pacedSamples() throws -> any PacedSamples {
    keepsPitch && leg.speed != .natural
      ? try PitchedSamples(track, leg, at: place) : try ResampledSamples(track, leg, at: place)
  }
}

/// Audio of a part of the source at a leg's speed and in the direction of the leg's audio. Beyond
/// the end of the part, ``ResampledSamples`` continues with the source's audio, and
/// ``PitchedSamples`` is silent.
protocol PacedSamples {
  /// Returns the next `count` sample frames.
  func take(_ count: Int) throws -> [UInt8]
}
