import GStreamer
import MediaTime
import RetrogradeEngine

/// Compares the samples of a mirror (a reversed file) with the expected samples: the source's audio
/// in the order of play.
struct AudioComparison {
  /// Number of expected sample frames, at the mirror's rate, including silence while only the video
  /// plays.
  private(set) var expected = 0
  /// Number of sample frames in the mirror, including silence while only the video plays.
  private(set) var found = 0
  /// Exact numbers of expected sample frames, and of those in the mirror. nil if resampling, or a
  /// codec's priming or padding, makes them unknown.
  var stored: (expected: Int, found: Int)?
  /// Delay of the mirror's audio, in the mirror's sample frames; nil if the audio is silent, or if
  /// no delay makes it match the source's audio.
  var lag: Int?
  /// Difference between the largest and the smallest lag measured in the file, in sample frames.
  var drift = 0
  /// Comparison of short windows of samples.
  private(set) var windows: SampleWindows
  /// Normalised correlation of both streams; 1 if they differ at most in level; nil if both are
  /// silent.
  var correlation: Double?
  /// Largest difference between a sample and the expected one; full scale is 1.
  var largestDifference = 0.0

  private static let probes = 4
  /// Energy, relative to the loudest block, up to which a block counts as quiet: -20 dB.
  private static let quiet = 0.01

  /// Share of the comparison's time that the search for the loudest blocks takes.
  private static let search = 0.3

  /// Compares the audio of both files.
  /// - Parameters:
  ///   - delay: delay of the mirror's video relative to the presentation.
  ///   - exactness: required exactness of the samples.
  ///   - report: gets the position in the audio, and the share of the comparison that is done, from
  ///     0 to 1.
  init(
    _ source: (track: AudioTrack, legs: PlaybackLegs), _ mirror: (track: AudioTrack, legs: PlaybackLegs),
    delay: ClockTime, _ exactness: Exactness,
    _ cancellation: Cancellation, report: (ClockTime, _ share: Double) -> Void
  ) throws {
    let (rate, channels) = (mirror.track.rate, mirror.track.channels)
    let masks = [source, mirror].map { $0.track.caps.channelMask ?? 0 }
    windows = SampleWindows(rate: rate, channels: channels, mask: masks[1])
    let order = Speakers.order(of: masks[0], as: masks[1], channels).flatMap { $0 == Array(0..<channels) ? nil : $0 }
    func stream(
      _ media: (track: AudioTrack, legs: PlaybackLegs), from: ClockTime = .zero, order: [Int]? = nil
    ) throws -> SampleStream {
      try SampleStream(media.track, media.legs, from: from, rate: rate, channels: channels, order: order, cancellation)
    }
    let length = source.legs.duration ?? .zero
    func share(of position: ClockTime) -> Double { length > .zero ? min(position / length, 1) : 0 }
    let blocks = try AudioComparison.blocks(try stream(source, order: order), rate, channels) {
      report($0, AudioComparison.search * share(of: $0))
    }
    let (loudest, edges) = AudioComparison.places(blocks, of: max(length.sampleIndex(rate: rate), 1))
    let late = delay.sampleIndex(rate: rate)
    let probes = try (loudest + edges).map { start in
      let samples = try stream(source, from: ClockTime(sampleIndex: start, rate: rate), order: order).take(
        AudioLag.length)
      let wanted = Array(samples.prefix(AudioLag.length * channels))
      // Read the mirror's samples at the expected position of the probe, with `reach` more sample
      // frames on each side.
      let first = start + late - AudioLag.reach
      let silence = [Float32](repeating: 0, count: max(0, -first) * channels)
      let count = wanted.count / channels + 2 * AudioLag.reach
      let given = try stream(mirror, from: ClockTime(sampleIndex: max(0, first), rate: rate)).take(
        count + min(0, first))
      let padding = max(0, count * channels - silence.count - given.count)
      return AudioLag.Probe(
        wanted: wanted, given: silence + given + [Float32](repeating: 0, count: padding),
        isEdge: !loudest.contains(start))
    }
    let found = AudioLag(probes, channels: channels, isExact: exactness.isExact)
    lag = found.map { $0.samples + late }
    drift = found?.drift ?? 0
    try compare(try stream(source, order: order), try stream(mirror), channels, rate) {
      report($0, AudioComparison.search + (1 - AudioComparison.search) * share(of: $0))
    }
  }

  /// Divides the stream into blocks of ``AudioLag/length`` sample frames; the last block may be
  /// shorter. Returns the first sample frame and the energy of each block.
  private static func blocks(
    _ stream: SampleStream, _ rate: Int, _ channels: Int, _ report: (ClockTime) -> Void
  ) throws -> [(start: Int, energy: Double)] {
    var blocks: [(start: Int, energy: Double)] = []
    var (start, filled, energy) = (0, 0, 0.0)
    func close() {
      blocks.append((start, energy))
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
    // Add the last block even if it is short, because it may be the only block.
    close()
    return blocks
  }

  /// Returns the start of each block in which to measure the lag, in sample frames. These blocks
  /// are the loudest of each quarter, and the first and last that are not quiet. The first and last
  /// blocks are needed for a steady tone: in its middle, the tone also matches one period later.
  /// - Parameter length: length of the complete audio, in sample frames.
  private static func places(
    _ blocks: [(start: Int, energy: Double)], of length: Int
  ) -> (loudest: [Int], edges: [Int]) {
    let part = max(length / probes, 1)
    let quarters = Dictionary(grouping: blocks) { $0.start / part }.values
    let loudest = quarters.compactMap { $0.max { $0.energy < $1.energy } }.filter { $0.energy > 0 }
    let least = quiet * (loudest.map(\.energy).max() ?? 0)
    let edges = [blocks.first { $0.energy > least }, blocks.last { $0.energy > least }].compactMap { $0?.start }
    return (loudest.map(\.start).sorted(), edges.unique.filter { !loudest.map(\.start).contains($0) })
  }

  /// Compares both streams from end to end, shifted by the lag.
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
