import GStreamer
import MediaTime
import RetrogradeEngine

/// Compares the samples that a source's audio is to be played as with those of a mirror.
struct AudioComparison {
  /// Sample frames, at the mirror's rate, with the silence before and after them while the video goes on.
  private(set) var expected = 0
  private(set) var found = 0
  /// Those that are in the files, where they can be counted to the sample: no codec primes or pads, or none is meant to.
  var stored: (expected: Int, found: Int)?
  /// How much later the mirror's audio is, in its sample frames; nil where there is nothing loud enough to tell by.
  var lag: Int?
  /// How far the lag differs along the way.
  var drift = 0
  /// What was found of each short stretch.
  private(set) var windows: SampleWindows
  /// How alike both are, 1 where they are the same but for their level; nil where all is silent.
  var correlation: Double?
  /// The largest difference of a sample, full scale being 1.
  var largestDifference = 0.0

  private static let probes = 4

  /// How much of the time it takes to find out where it is loud.
  private static let search = 0.3

  /// - Parameters:
  ///   - delay: how much later the mirror's video is.
  ///   - exactness: how exactly the samples have to be the source's.
  ///   - report: told how far it is, and how much of all is done, from 0 to 1.
  init(
    _ source: (track: AudioTrack, legs: PlaybackLegs), _ mirror: (track: AudioTrack, legs: PlaybackLegs),
    delay: ClockTime, _ exactness: Exactness,
    _ cancellation: Cancellation, report: (ClockTime, _ share: Double) -> Void
  ) throws {
    let (rate, channels) = (mirror.track.rate, mirror.track.channels)
    windows = SampleWindows(rate: rate, channels: channels)
    func stream(_ media: (track: AudioTrack, legs: PlaybackLegs), from: ClockTime = .zero) throws -> SampleStream {
      try SampleStream(media.track, media.legs, from: from, rate: rate, channels: channels, cancellation)
    }
    let length = source.legs.duration ?? .zero
    func share(of position: ClockTime) -> Double { length > .zero ? min(position / length, 1) : 0 }
    let loudest = try AudioComparison.loudest(try stream(source), length, rate, channels) {
      report($0, AudioComparison.search * share(of: $0))
    }
    let late = delay.sampleIndex(rate: rate)
    let probes = try loudest.map { start in
      let samples = try stream(source, from: ClockTime(sampleIndex: start, rate: rate)).take(AudioLag.length)
      let wanted = Array(samples.prefix(AudioLag.length * channels))
      // The mirror's samples from a reach before the expected place to a reach after the probe.
      let first = start + late - AudioLag.reach
      let silence = [Float32](repeating: 0, count: max(0, -first) * channels)
      let count = wanted.count / channels + 2 * AudioLag.reach
      let given = try stream(mirror, from: ClockTime(sampleIndex: max(0, first), rate: rate)).take(
        count + min(0, first))
      let padding = max(0, count * channels - silence.count - given.count)
      return AudioLag.Probe(wanted: wanted, given: silence + given + [Float32](repeating: 0, count: padding))
    }
    let found = AudioLag(probes, channels: channels, isExact: exactness.isExact)
    lag = found.map { $0.samples + late }
    drift = found?.drift ?? 0
    try compare(try stream(source), try stream(mirror), channels, rate) {
      report($0, AudioComparison.search + (1 - AudioComparison.search) * share(of: $0))
    }
  }

  /// The sample frame at which the loudest stretch of each quarter begins.
  private static func loudest(
    _ stream: SampleStream, _ length: ClockTime, _ rate: Int, _ channels: Int, _ report: (ClockTime) -> Void
  ) throws -> [Int] {
    let part = max(length.sampleIndex(rate: rate) / probes, 1)
    var loudest: [Int: (start: Int, energy: Double)] = [:]
    var (start, filled, energy) = (0, 0, 0.0)
    func close() {
      if energy > loudest[start / part]?.energy ?? 0 { loudest[start / part] = (start, energy) }
      (start, filled, energy) = (start + filled / channels, 0, 0)
    }
    while let samples = try stream.next() {
      for value in samples {
        energy += Double(value) * Double(value)
        filled += 1
        if filled == AudioLag.length * channels { close() }
      }
      report(ClockTime(sampleIndex: start, rate: rate))
    }
    // Sources may be shorter than one probe.
    close()
    return loudest.values.map(\.start).sorted()
  }

  /// Both streams from end to end, shifted by the lag.
  private mutating func compare(
    _ source: SampleStream, _ mirror: SampleStream, _ channels: Int, _ rate: Int, _ report: (ClockTime) -> Void
  ) throws {
    var (wanted, given) = (ArraySlice<Float32>(), ArraySlice<Float32>())
    var skip = (wanted: max(0, -(lag ?? 0)) * channels, given: max(0, lag ?? 0) * channels)
    var (products, squares, otherSquares) = (0.0, 0.0, 0.0)
    func refill(_ slice: inout ArraySlice<Float32>, _ stream: SampleStream, _ count: inout Int, _ skip: inout Int)
      throws -> Bool
    {
      while slice.isEmpty {
        guard let more = try stream.next() else { return false }
        count += more.count / channels
        let skipped = min(skip, more.count)
        skip -= skipped
        slice = more.dropFirst(skipped)
      }
      return true
    }
    while try refill(&wanted, source, &expected, &skip.wanted), try refill(&given, mirror, &found, &skip.given) {
      let count = min(wanted.count, given.count)
      windows.add(wanted.prefix(count), given.prefix(count))
      for (x, y) in zip(wanted.prefix(count), given.prefix(count)) {
        let (x, y) = (Double(x), Double(y))
        products += x * y
        squares += x * x
        otherSquares += y * y
        largestDifference = max(largestDifference, abs(x - y))
      }
      wanted = wanted.dropFirst(count)
      given = given.dropFirst(count)
      report(ClockTime(sampleIndex: expected, rate: rate))
    }
    while let more = try source.next() { expected += more.count / channels }
    while let more = try mirror.next() { found += more.count / channels }
    windows.finish()
    let energy = squares * otherSquares
    if energy > 0 {
      correlation = products / energy.squareRoot()
    } else if squares + otherSquares > 0 {
      correlation = 0
    }
  }
}
