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
  private static let probe = 4096
  private static let reach = 8192

  /// How much of the time it takes to find out where it is loud.
  private static let search = 0.3

  /// - Parameters:
  ///   - delay: how much later the mirror's video is.
  ///   - report: told how far it is, and how much of all is done, from 0 to 1.
  init(
    _ source: (track: AudioTrack, legs: PlaybackLegs), _ mirror: (track: AudioTrack, legs: PlaybackLegs),
    delay: ClockTime,
    _ cancellation: Cancellation, report: (ClockTime, _ share: Double) -> Void
  ) throws {
    let (rate, channels) = (mirror.track.rate, mirror.track.channels)
    windows = SampleWindows(rate: rate, channels: channels)
    func stream(_ media: (track: AudioTrack, legs: PlaybackLegs), from: ClockTime = .zero) throws -> SampleStream {
      try SampleStream(media.track, media.legs, from: from, rate: rate, channels: channels, cancellation)
    }
    // One stretch of audio is as late as the one before, unless something is wrong.
    var guess = delay.sampleIndex(rate: rate)
    var lags: [Int] = []
    let length = source.legs.duration ?? .zero
    func share(of position: ClockTime) -> Double { length > .zero ? min(position / length, 1) : 0 }
    let loudest = try AudioComparison.loudest(try stream(source), length, rate, channels) {
      report($0, AudioComparison.search * share(of: $0))
    }
    for start in loudest {
      let wanted = try stream(source, from: start).take(AudioComparison.probe)
      // From as early as the reach goes, or from the beginning.
      let earlier = max(.zero, start + delay - ClockTime(sampleIndex: AudioComparison.reach, rate: rate))
      let head = start.sampleIndex(rate: rate) - earlier.sampleIndex(rate: rate)
      let given = try stream(mirror, from: earlier).take(
        head + delay.sampleIndex(rate: rate) + AudioComparison.probe + AudioComparison.reach)
      if let lag = AudioComparison.lag(of: wanted, in: given, head: head, channels: channels, guess: guess) {
        lags.append(lag)
        guess = lag
      }
    }
    lags.sort()
    lag = lags.isEmpty ? nil : lags[lags.count / 2]
    drift = (lags.last ?? 0) - (lags.first ?? 0)
    try compare(try stream(source), try stream(mirror), channels, rate) {
      report($0, AudioComparison.search + (1 - AudioComparison.search) * share(of: $0))
    }
  }

  /// Where the loudest stretch of each quarter begins.
  private static func loudest(
    _ stream: SampleStream, _ length: ClockTime, _ rate: Int, _ channels: Int, _ report: (ClockTime) -> Void
  ) throws -> [ClockTime] {
    let part = max(length.sampleIndex(rate: rate) / probes, 1)
    var loudest: [Int: (start: Int, energy: Double)] = [:]
    var (block, start, energy) = (0, 0, 0.0)
    while let samples = try stream.next() {
      for value in samples { energy += Double(value) * Double(value) }
      block += samples.count / channels
      guard block >= probe else { continue }
      if energy > loudest[start / part]?.energy ?? 0 { loudest[start / part] = (start, energy) }
      (start, block, energy) = (start + block, 0, 0)
      report(ClockTime(sampleIndex: start, rate: rate))
    }
    return loudest.values.map { ClockTime(sampleIndex: $0.start, rate: rate) }.sorted()
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

  /// How many sample frames later than at `head` the first samples of `wanted` are found in `given`, by normalised
  /// cross-correlation; of places that are as good, the one nearest to `guess`. Nil where it is too quiet to tell, and where
  /// nothing is alike.
  static func lag(of wanted: [Float32], in given: [Float32], head: Int, channels: Int, guess: Int) -> Int? {
    guard let whole = CrossCorrelation(wanted.prefix(probe * channels), given, channels: channels) else { return nil }
    if let near = whole.best(near: head + guess, within: 256), near.score > 0.9, abs(near.place - head - guess) < 200 {
      return near.place - head
    }
    // It may be anywhere: a shorter stretch finds about where, and all of it exactly where.
    let short = CrossCorrelation(wanted.prefix(probe / 4 * channels), given, channels: channels)
    guard let about = short?.best(near: head + guess, within: reach),
      let found = whole.best(near: about.place, within: 32), found.score > 0.3
    else { return nil }
    return found.place - head
  }
}

/// How alike some samples are to those at a place among others.
private struct CrossCorrelation {
  private let wanted: ArraySlice<Float32>
  private let given: [Float32]
  private let channels: Int
  private let energy: Double
  /// Of all samples before each.
  private var energies: [Double] = [0]
  /// Quieter than this, by mean square, is silence.
  private static let silence = 1e-8

  /// - Returns: nil where that is silence.
  init?(_ wanted: ArraySlice<Float32>, _ given: [Float32], channels: Int) {
    self.wanted = wanted
    self.given = given
    self.channels = channels
    energy = wanted.reduce(0) { $0 + Double($1) * Double($1) }
    guard energy > CrossCorrelation.silence * Double(wanted.count), given.count >= wanted.count else { return nil }
    energies.reserveCapacity(given.count + 1)
    var sum = 0.0
    for value in given {
      sum += Double(value) * Double(value)
      energies.append(sum)
    }
  }

  /// The most alike place around `place`, in sample frames; of those that are as good, the nearest.
  func best(near place: Int, within reach: Int) -> (place: Int, score: Double)? {
    var best: (place: Int, score: Double)?
    for distance in 0...reach {
      for place in distance == 0 ? [place] : [place - distance, place + distance] {
        guard let score = score(at: place) else { continue }
        if best.map({ score > $0.score + 1e-4 }) ?? true { best = (place, score) }
      }
    }
    return best
  }

  /// From -1 to 1; nil where there are no such samples, or nothing is heard.
  func score(at frame: Int) -> Double? {
    let start = frame * channels
    guard start >= 0, start + wanted.count <= given.count else { return nil }
    let other = energies[start + wanted.count] - energies[start]
    guard other > CrossCorrelation.silence * Double(wanted.count) else { return nil }
    var product: Float32 = 0
    wanted.withUnsafeBufferPointer { wanted in
      given.withUnsafeBufferPointer { given in
        for index in 0..<wanted.count { product += wanted[index] * given[start + index] }
      }
    }
    return Double(product) / (energy * other).squareRoot()
  }
}
