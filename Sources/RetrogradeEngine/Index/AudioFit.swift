import MediaTime

/// Anchor by which decoded audio from the middle of a source is put where a pass over all of the source would
/// put it. Pure arithmetic.
///
/// Such a pass counts samples from the first timestamp on (`AudioLayout`), while timestamps in the middle may
/// be rounded to a millisecond. But from one packet to another there is a whole number of packets, so that it
/// suffices to know the place of one, and how many samples they have.
struct AudioAnchor: Hashable, Sendable {
  /// The place of a buffer, in sample frames from stream time 0.
  var position: Int
  /// Divisor of the count of sample frames between any two buffers.
  var step: Int
  /// Delay of the buffers' timestamps against the count of samples, on average of the extremes, in sample
  /// frames.
  var offset: Double
  /// The latest of them less the earliest.
  var spread: Int

  /// Time up to which a decoder may leave out samples, as Opus's does: its first buffers have no regular
  /// size.
  private static let settling = ClockTime(nanoseconds: 250_000_000)
  private static let rounding = ClockTime(nanoseconds: 1_000_000)

  /// - Parameters:
  ///   - positions: where the buffers are, by counting.
  ///   - nominals: where their timestamps say that they are.
  /// - Returns: nil where too little is known.
  init?(_ buffers: [DecodedAudio], positions: [Int], nominals: [Int?], rate: Int) {
    guard let start = positions.first else { return nil }
    let settled = AudioAnchor.settling.sampleIndex(rate: rate)
    guard let first = positions.firstIndex(where: { $0 - start >= settled }) else { return nil }
    // The last ones may come out shorter when a decoder is drained; buffers after a gap have been placed
    // anew.
    var numbers: [Int] = []
    for number in first..<max(first, buffers.count - 2) {
      if let last = numbers.last, positions[last] + buffers[last].count != positions[number] { break }
      numbers.append(number)
    }
    let deltas = numbers.compactMap { number -> Int? in
      guard let nominal = nominals[number] else { return nil }
      let (delta, isTooFar) = nominal.subtractingReportingOverflow(positions[number])
      // Damaged timestamps may be centuries apart.
      return isTooFar || delta.magnitude > 1 << 60 ? nil : delta
    }
    guard numbers.count >= 4, deltas.count == numbers.count, let low = deltas.min(), let high = deltas.max() else {
      return nil
    }
    position = positions[first]
    step = numbers.reduce(0) { AudioAnchor.divisor($0, buffers[$1].count) }
    offset = Double(low + high) / 2
    spread = high - low
    guard step > 0 else { return nil }
  }

  /// How far the buffers that this was made of have to be moved, for them to be where `origin` says.
  /// - Returns: nil where that can't be told to the sample.
  func shift(to origin: AudioAnchor, rate: Int) -> Int? {
    let step = AudioAnchor.divisor(step, origin.step)
    let estimate = Double(position) + offset - origin.offset
    guard step > 0, estimate.magnitude < 1e15 else { return nil }
    let distance = Int(estimate.rounded()) - origin.position
    let isExact = spread <= 1 && origin.spread <= 1
    // With timestamps that tell the sample nothing else is needed.
    if isExact, step < 4 { return spread == 0 && origin.spread == 0 ? Int(estimate.rounded()) - position : nil }
    let steps = Int((Double(distance) / Double(step)).rounded())
    let place = origin.position + steps * step
    let allowed = isExact ? 1 : min(Double(step) / 4, Double(AudioAnchor.rounding.sampleIndex(rate: rate)) + 1)
    guard (estimate - Double(place)).magnitude <= Double(allowed) else { return nil }
    return place - position
  }

  private static func divisor(_ a: Int, _ b: Int) -> Int {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return a
  }
}

/// Part of a stream's audio that is indexed, and its place.
struct AudioFit: Sendable {
  /// Anchor found at the beginning of the source; nil where this is the beginning.
  var origin: AudioAnchor?
  /// Wanted part of the decoded audio, in stream time; without an end: to the end of the source.
  var start: ClockTime?
  var end: ClockTime?
  /// False if audio may lie where its timestamps say, if no more is known (``AudioTrack/isPlaced``).
  var isExact = true
}
