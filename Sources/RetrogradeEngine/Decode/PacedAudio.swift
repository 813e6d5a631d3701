import GStreamer
import MediaTime

/// The audio of a leg that is not played as fast as the source, or is held, or is silent: as long as the leg, to the sample.
struct PacedAudio: LegAudio {
  private let track: AudioTrack
  private let leg: PlaybackLeg
  private let partSize: Int
  /// The sample frames of the output, and those of them during which something moves, counted from its start.
  private let range: Range<Int>
  private let moving: Range<Int>
  /// How many sample frames a sound that begins or ends in the leg is faded over.
  private let fade: Int
  private var done = 0
  private var resampler: Resampler?

  /// Where the source is read, in the direction of the audio.
  private let place: ClockTime

  /// - Parameter leg: what is left of `whole` for the output.
  init(_ track: AudioTrack, _ leg: PlaybackLeg, of whole: PlaybackLeg, joint: ClockTime, partSize: Int) {
    (self.track, self.leg, self.partSize) = (track, leg, partSize)
    let past = leg.direction == .forward ? leg.span.start - whole.span.start : whole.span.end - leg.span.end
    place = leg.heard.direction == .forward ? whole.span.start + past : whole.span.end - past
    func samples(_ span: TimeSpan) -> Range<Int> {
      let first = span.start.sampleIndex(rate: track.rate)
      return first..<max(first, span.end.sampleIndex(rate: track.rate))
    }
    range = samples(TimeSpan(start: leg.start, end: leg.end))
    moving = leg.audio == .mute ? range.upperBound..<range.upperBound : samples(leg.moving).clamped(to: range)
    fade = joint.sampleIndex(rate: track.rate)
  }

  var count: Int { range.count }

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

  /// Players ask for it of sources that have natural legs only.
  mutating func nextFromEnd() throws -> AudioPart? { nil }

  mutating func goOn(_ count: Int) throws -> [UInt8] {
    moving.upperBound == range.upperBound ? try heard(count) : track.silence(count)
  }

  /// What of `part` of the output is heard, which follows what was taken before.
  private mutating func take(_ part: Range<Int>) throws -> [UInt8] {
    let (from, to) = (part.clamped(to: moving).lowerBound, part.clamped(to: moving).upperBound)
    guard from < to else { return try ending(part, track.silence(part.count)) }
    var samples = try track.silence(from - part.lowerBound) + heard(to - from)
    if from == moving.lowerBound, moving.lowerBound > range.lowerBound {
      let silence = track.silence(min(fade, to - from))
      samples = try Crossfade.mix(silence, into: samples, at: from - part.lowerBound, track)
    }
    return try ending(part, samples + track.silence(part.upperBound - to))
  }

  /// With what moved before faded out, where it stops in `part`.
  private mutating func ending(_ part: Range<Int>, _ samples: [UInt8]) throws -> [UInt8] {
    guard !moving.isEmpty, moving.upperBound < part.upperBound, part.lowerBound <= moving.upperBound else {
      return samples
    }
    let tail = try heard(min(fade, part.upperBound - moving.upperBound))
    return try Crossfade.mix(tail, into: samples, at: moving.upperBound - part.lowerBound, track)
  }

  /// The next sample frames of what moves.
  private mutating func heard(_ count: Int) throws -> [UInt8] {
    guard leg.audio != .mute, count > 0 else { return track.silence(count) }
    let resampler = try resampler ?? Resampler(track, leg, at: place)
    self.resampler = resampler
    return try resampler.take(count)
  }
}

/// The samples of a stretch of the source at the leg's speed, in its direction, one after the other; beyond its end at the speed there.
///
/// Rates are ratios, so they are counted in units fine enough to lose no sample in days.
private final class Resampler {
  private let track: AudioTrack
  private let leg: PlaybackLeg
  private let direction: Direction
  /// The first sample frame forwards, or the one after it backwards.
  private let first: Int
  /// nil where the speed is the source's own.
  private let converter: AudioConverter?
  /// How many sample frames of the source were read.
  private var read = 0
  private var ready: [UInt8] = []

  private static let unit = 10_000_019
  /// How many sample frames are played at one speed, where it changes.
  private static let block = 256

  init(_ track: AudioTrack, _ leg: PlaybackLeg, at place: ClockTime) throws {
    (self.track, self.leg, direction) = (track, leg, leg.heard.direction)
    first = place.sampleIndex(rate: track.rate)
    if leg.speed == .natural {
      converter = nil
      return
    }
    let caps = track.caps.setting("rate", "(int)\(Resampler.unit)")
    guard let converter = AudioConverter(from: caps, to: caps, variesRate: true) else {
      throw RetrogradeError(
        .internalFailure, "the speed of audio of this form can't be changed: \(track.caps)",
        remedy: "\(PackageHint.all)")
    }
    self.converter = converter
  }

  func take(_ count: Int) throws -> [UInt8] {
    let bytes = count * track.bytesPerFrame
    while ready.count < bytes { try readOn() }
    defer { ready.removeFirst(bytes) }
    return Array(ready.prefix(bytes))
  }

  private func readOn() throws {
    let samples = try track.samples(
      direction == .forward
        ? first + read..<first + read + Resampler.block : first - read - Resampler.block..<first - read, direction)
    guard let converter else {
      read += Resampler.block
      ready += samples
      return
    }
    converter.setInputRate(Int((Double(Resampler.unit) * speed(converter.latency)).rounded()))
    read += Resampler.block
    ready += try samples.withUnsafeBytes(converter.convert)
  }

  /// That of what comes out for the next block, on average; beyond the end, that of the end.
  /// - Parameter waiting: how many sample frames have been read before and have not come out.
  private func speed(_ waiting: Int) -> Double {
    let length = leg.span.duration
    let from = ClockTime(sampleIndex: max(read - waiting, 0), rate: track.rate)
    let to = ClockTime(sampleIndex: read - waiting + Resampler.block, rate: track.rate)
    guard !leg.speed.isConstant, to <= length else { return leg.speed.isConstant ? leg.speed.first : leg.speed.last }
    return (to - from) / (leg.time(toPlay: to) - leg.time(toPlay: from))
  }
}
