import GStreamer
import MediaTime

/// Audio at another speed, with its pitch changed as on a tape. Beyond the end of the leg's part of
/// the source, the audio continues at the leg's last speed.
///
/// The speed is the ratio of the converter's two rates. GStreamer's resampler allocates memory in
/// proportion to the output rate, so the rates are low and the ratio is coarse. If a block becomes
/// too long or too short, the next block compensates for it.
final class ResampledSamples: PacedSamples {
  private let track: AudioTrack
  private let leg: PlaybackLeg
  private let direction: Direction
  /// Source position, in sample frames, at which reading begins. Backwards, the first sample frame
  /// that is read is the one before this position.
  private let first: Int
  /// Rate converter; nil at the source's own speed.
  private let converter: AudioConverter?
  /// Number of source sample frames that are read at once and have one speed.
  private let block: Int
  private var read = 0
  /// Number of sample frames output, calculated from the rates that were set.
  private var given = 0.0
  private var ready: [UInt8] = []

  private static let unit = 100_000

  init(_ track: AudioTrack, _ leg: PlaybackLeg, at place: ClockTime) throws {
    (self.track, self.leg, direction) = (track, leg, leg.playedLeg.direction)
    first = place.sampleIndex(rate: track.rate)
    block = leg.speed.isConstant ? 4096 : 256
    if leg.speed == .natural {
      converter = nil
      return
    }
    let caps = track.caps.setting("rate", "(int)\(ResampledSamples.unit)")
    guard let converter = AudioConverter(from: caps, to: caps, variesRate: true) else {
      throw RetrogradeError(
        .internalFailure, "the speed of audio in this format can't be changed: \(track.caps)",
        remedy: "\(PackageHint.all)")
    }
    self.converter = converter
  }

  func take(_ count: Int) throws -> [UInt8] {
    let bytes = count * track.bytesPerFrame
    while ready.count < bytes { try readMore() }
    defer { ready.removeFirst(bytes) }
    return Array(ready.prefix(bytes))
  }

  private func readMore() throws {
    let samples = try track.samples(
      direction == .forward ? first + read..<first + read + block : first - read - block..<first - read, direction)
    if let converter {
      setRate(of: converter)
      ready += try samples.withUnsafeBytes(converter.convert)
    } else {
      ready += samples
    }
    read += block
  }

  /// Sets the rate that gives the next block its correct length.
  private func setRate(of converter: AudioConverter) {
    // The new speed also applies to sample frames that are still in the converter. Their number
    // increases with the speed, and the speed is calculated from their number. To limit this
    // feedback, count at most half a block.
    let end = read + block - (leg.speed.isConstant ? 0 : min(converter.latency, block / 2))
    let count = min(block, end)
    let wanted = max(time(toPlay: end) - given, 1)
    let rate = max((Double(count * ResampledSamples.unit) / wanted).rounded(), 1)
    given += Double(count * ResampledSamples.unit) / rate
    converter.setInputRate(Int(min(rate, Double(Int32.max))))
  }

  /// Returns the number of output sample frames for the first `count` sample frames of the source.
  /// Beyond the end of the leg's part of the source, the leg's last speed applies.
  private func time(toPlay count: Int) -> Double {
    let way = ClockTime(sampleIndex: count, rate: track.rate)
    let length = leg.span.duration
    let time = leg.time(toPlay: min(way, length)).seconds + max(.zero, way - length).seconds / leg.speed.last
    return time * Double(track.rate)
  }
}
