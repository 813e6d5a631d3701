import GStreamer
import MediaTime

/// Audio as from a tape that runs at another speed: pitch follows. Beyond the end of the stretch it runs on
/// at the speed there.
///
/// Only the ratio of the two rates counts. GStreamer's resampler keeps some bytes for each unit of the output
/// rate, so units are coarse; the next block makes up for a block that comes out too long or too short.
final class ResampledSamples: PacedSamples {
  private let track: AudioTrack
  private let leg: PlaybackLeg
  private let direction: Direction
  /// The first sample frame forwards, or the one after it backwards.
  private let first: Int
  /// nil where the speed is the source's own.
  private let converter: AudioConverter?
  /// How many sample frames of the source are read at a time: at one speed.
  private let block: Int
  private var read = 0
  /// How many have come out, by the rates that were set.
  private var given = 0.0
  private var ready: [UInt8] = []

  private static let unit = 100_000

  init(_ track: AudioTrack, _ leg: PlaybackLeg, at place: ClockTime) throws {
    (self.track, self.leg, direction) = (track, leg, leg.heard.direction)
    first = place.sampleIndex(rate: track.rate)
    block = leg.speed.isConstant ? 4096 : 256
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
      direction == .forward ? first + read..<first + read + block : first - read - block..<first - read, direction)
    if let converter {
      setRate(of: converter)
      ready += try samples.withUnsafeBytes(converter.convert)
    } else {
      ready += samples
    }
    read += block
  }

  /// Makes the next block come out as long as it should.
  private func setRate(of converter: AudioConverter) {
    // Samples that have gone in and not come out belong to the speed that follows. They are more, the higher
    // that speed is: no more than half a block of them counts, so that no rate follows from its own effect.
    let end = read + block - (leg.speed.isConstant ? 0 : min(converter.latency, block / 2))
    let count = min(block, end)
    let wanted = max(time(toPlay: end) - given, 1)
    let rate = max((Double(count * ResampledSamples.unit) / wanted).rounded(), 1)
    given += Double(count * ResampledSamples.unit) / rate
    converter.setInputRate(Int(min(rate, Double(Int32.max))))
  }

  /// How long the first `count` sample frames take, in sample frames of the output; beyond the end, at the speed there.
  private func time(toPlay count: Int) -> Double {
    let way = ClockTime(sampleIndex: count, rate: track.rate)
    let length = leg.span.duration
    let time = leg.time(toPlay: min(way, length)).seconds + max(.zero, way - length).seconds / leg.speed.last
    return time * Double(track.rate)
  }
}
