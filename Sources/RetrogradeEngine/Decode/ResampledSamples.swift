import GStreamer
import MediaTime

/// As a tape that runs at another speed: pitch follows. Beyond the end of the stretch it runs on at the speed there.
///
/// Rates are ratios, so they are counted in units fine enough to lose no sample in days.
final class ResampledSamples: PacedSamples {
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
    let caps = track.caps.setting("rate", "(int)\(ResampledSamples.unit)")
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
        ? first + read..<first + read + ResampledSamples.block : first - read - ResampledSamples.block..<first - read,
      direction)
    guard let converter else {
      read += ResampledSamples.block
      ready += samples
      return
    }
    converter.setInputRate(Int((Double(ResampledSamples.unit) * speed(converter.latency)).rounded()))
    read += ResampledSamples.block
    ready += try samples.withUnsafeBytes(converter.convert)
  }

  /// That of what comes out for the next block, on average; beyond the end, that of the end.
  /// - Parameter waiting: how many sample frames have been read before and have not come out.
  private func speed(_ waiting: Int) -> Double {
    let length = leg.span.duration
    let from = ClockTime(sampleIndex: max(read - waiting, 0), rate: track.rate)
    let to = ClockTime(sampleIndex: read - waiting + ResampledSamples.block, rate: track.rate)
    guard !leg.speed.isConstant, to <= length else { return leg.speed.isConstant ? leg.speed.first : leg.speed.last }
    return (to - from) / (leg.time(toPlay: to) - leg.time(toPlay: from))
  }
}
