/// Delay (lag) of a mirror's audio relative to its source's audio, by normalised cross-correlation
/// of a few short excerpts (probes).
///
/// A lag is judged by all probes together: in a single probe, a periodic signal also matches one
/// period later, but several probes rarely share a period.
struct AudioLag {
  /// Excerpt of the source's audio, with the mirror's audio around the expected position.
  struct Probe {
    /// Interleaved samples of the source.
    var wanted: [Float32]
    /// Interleaved samples of the mirror at the expected position of the probe, and
    /// ``AudioLag/reach`` more sample frames on each side; silence outside the file.
    var given: [Float32]
    /// True if the audio begins or ends in the probe. Codecs change beginnings and ends more than
    /// other audio.
    var isEdge = false

    /// Returns the samples to search for at all lags up to ``AudioLag/reach``: the loudest short
    /// part of the probe, or the complete probe if it is an edge.
    fileprivate func sought(_ channels: Int) -> ArraySlice<Float32> {
      guard !isEdge else { return wanted[...] }
      let size = AudioLag.short * channels
      func energy(_ part: ArraySlice<Float32>) -> Double { part.reduce(0) { $0 + Double($1) * Double($1) } }
      let parts = stride(from: 0, to: wanted.count, by: size).map { wanted[$0..<min($0 + size, wanted.count)] }
      return parts.max { energy($0) < energy($1) } ?? []
    }
  }

  /// Length of a probe, and the largest lag, in sample frames.
  static let (length, reach) = (4096, 8192)
  /// Largest lag, in sample frames, that is found by the first, quick search. Larger lags need a
  /// search up to ``reach``.
  private static let near = 256
  /// Length, in sample frames, of the part of a probe that is searched for at all lags up to
  /// ``reach``.
  private static let short = 1024

  /// Lag relative to the expected position, in sample frames; above 0 if the mirror's audio is
  /// late.
  let samples: Int
  /// Difference between the largest and the smallest lag of single probes, in sample frames.
  let drift: Int

  /// Measures the lag.
  /// - Parameters:
  ///   - isExact: true if the files differ only by rounding. At the right lag, the correlation is
  ///     then clearly higher than at any wrong lag.
  /// - Returns: nil if all probes are silent, or do not correlate at any lag.
  init?(_ probes: [Probe], channels: Int, isExact: Bool) {
    let correlations = probes.compactMap { CrossCorrelation($0.wanted[...], $0.given, channels: channels) }
    guard !correlations.isEmpty else { return nil }
    let margin = isExact ? 1e-6 : nil
    var found = AudioLag.peak(correlations, near: AudioLag.reach, within: AudioLag.near, margin)
    // A periodic signal nearly matches itself at wrong lags. If the files differ only by rounding,
    // the score of the right lag is nearly 1, so reject lower scores than for lossy codecs.
    let least = isExact ? 0.9999 : 0.985
    if found.map({ $0.score < least }) ?? true {
      let short = probes.compactMap { CrossCorrelation($0.sought(channels), $0.given, channels: channels) }
      guard let about = AudioLag.peak(short, near: AudioLag.reach, within: AudioLag.reach, margin),
        let exact = AudioLag.peak(correlations, near: about.place, within: 32, margin), exact.score > 0.3
      else { return nil }
      found = exact
    }
    guard let place = found?.place else { return nil }
    let inner = probes.filter { !$0.isEdge }.compactMap {
      CrossCorrelation($0.wanted[...], $0.given, channels: channels)
    }
    let places = inner.compactMap { correlation -> Int? in
      let own = AudioLag.peak([correlation], near: place, within: AudioLag.near, margin)
      return own.flatMap { $0.score > 0.9 ? $0.place : nil }
    }
    samples = place - AudioLag.reach
    drift = (places.max() ?? 0) - (places.min() ?? 0)
  }

  /// Returns the position nearest to `place` among the highest correlation peaks of all probes
  /// together.
  /// - Parameter margin: how far below the best correlation a peak may be; nil: derived from the
  ///   best correlation, because a lossy codec lowers all correlations.
  private static func peak(
    _ correlations: [CrossCorrelation], near place: Int, within reach: Int, _ margin: Double?
  ) -> (place: Int, score: Double)? {
    let places = place - reach...place + reach
    let scores = places.map { CrossCorrelation.score(correlations, at: $0) ?? -1 }
    guard let best = scores.max(), best > -1 else { return nil }
    let least = best - (margin ?? 0.001 + 0.1 * (1 - best))
    // The highest score always counts as a peak, another score only if neither neighbour is higher.
    let peaks = scores.indices.filter { index in
      guard scores[index] >= least else { return false }
      let isInside = index > 0 && index < scores.count - 1
      return scores[index] == best
        || isInside && scores[index] >= scores[index - 1] && scores[index] >= scores[index + 1]
    }
    return peaks.min { abs($0 - reach) < abs($1 - reach) }.map { ($0 + place - reach, scores[$0]) }
  }
}

/// Correlates some samples with equally many samples at any position in a longer series.
private struct CrossCorrelation {
  private let wanted: ArraySlice<Float32>
  private let given: [Float32]
  private let channels: Int
  private let energy: Double
  /// Energy of all samples of `given` before each index, so that the energy of any range is a
  /// difference of two values.
  private var energies: [Double] = [0]

  /// - Parameter wanted: interleaved samples. The slice's indices are positions in the probe.
  /// - Returns: nil if `wanted` is silent, or longer than `given`.
  init?(_ wanted: ArraySlice<Float32>, _ given: [Float32], channels: Int) {
    self.wanted = wanted
    self.given = given
    self.channels = channels
    energy = wanted.reduce(0) { $0 + Double($1) * Double($1) }
    guard energy > 0, given.count >= wanted.count else { return nil }
    energies.reserveCapacity(given.count + 1)
    var sum = 0.0
    for value in given {
      sum += Double(value) * Double(value)
      energies.append(sum)
    }
  }

  /// Returns the correlation of all probes at one position, from -1 to 1; nil if the position is
  /// out of range, or the samples there are silent.
  static func score(_ all: [CrossCorrelation], at frame: Int) -> Double? {
    var (product, own, other) = (0.0, 0.0, 0.0)
    for one in all {
      let start = frame * one.channels + one.wanted.startIndex
      guard start >= 0, start + one.wanted.count <= one.given.count else { return nil }
      product += one.product(at: start)
      own += one.energy
      other += one.energies[start + one.wanted.count] - one.energies[start]
    }
    guard other > 0 else { return nil }
    return product / (own * other).squareRoot()
  }

  private func product(at start: Int) -> Double {
    var sum = 0.0
    wanted.withUnsafeBufferPointer { wanted in
      given.withUnsafeBufferPointer { given in
        // Sums of 256 products are precise enough in 32 bits.
        for block in stride(from: 0, to: wanted.count, by: 256) {
          var part: Float32 = 0
          for index in block..<min(block + 256, wanted.count) { part += wanted[index] * given[start + index] }
          sum += Double(part)
        }
      }
    }
    return sum
  }
}
