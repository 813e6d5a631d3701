import MediaTime

/// Position and timestamp errors of consecutive decoded buffers. From an anchor of the source's
/// beginning and an anchor of its middle, ``shift(to:rate:)`` computes how far to move the audio in
/// the middle, so that it has the position that a full pass would give. This type does not use
/// GStreamer elements, only arithmetic.
///
/// A full pass counts samples from the first timestamp (`AudioLayout`), but timestamps in the
/// middle may be rounded to a millisecond, so they do not give exact positions. However, the
/// lengths of all packets have a common divisor, and the distance between any two packets is a
/// multiple of this divisor. The timestamps give an approximate distance; rounding it to a multiple
/// of the divisor gives the exact one.
struct AudioAnchor: Hashable, Sendable {
  /// Position of a buffer, in sample frames from stream time 0.
  var position: Int
  /// Common divisor of the distances, in sample frames, between any two buffers.
  var step: Int
  /// Delay of the timestamps relative to the sample count, in sample frames: the middle between the
  /// smallest and the largest delay.
  var offset: Double
  /// Largest delay minus the smallest, in sample frames.
  var spread: Int

  /// Time after the start during which a decoder's buffers are ignored. For example, the Opus
  /// decoder drops samples at the start, so its first buffers vary in size.
  private static let settling = ClockTime(nanoseconds: 250_000_000)
  private static let rounding = ClockTime(nanoseconds: 1_000_000)

  /// - Parameters:
  ///   - positions: positions of the buffers by sample count.
  ///   - nominals: positions of the buffers by their timestamps.
  /// - Returns: nil if the buffers are too few or irregular.
  init?(_ buffers: [DecodedAudio], positions: [Int], nominals: [Int?], rate: Int) {
    guard let start = positions.first else { return nil }
    let settled = AudioAnchor.settling.sampleIndex(rate: rate)
    guard let first = positions.firstIndex(where: { $0 - start >= settled }) else { return nil }
    // Ignore the last two buffers, because they may be shortened when the decoder is drained. Also
    // ignore the buffers after a gap.
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

  /// Returns the distance, in sample frames, by which this anchor's buffers must be moved to match
  /// `origin`.
  /// - Parameter origin: anchor from the beginning of the source.
  /// - Returns: nil if the exact distance is unknown.
  func shift(to origin: AudioAnchor, rate: Int) -> Int? {
    let step = AudioAnchor.divisor(step, origin.step)
    let estimate = Double(position) + offset - origin.offset
    guard step > 0, estimate.magnitude < 1e15 else { return nil }
    let distance = Int(estimate.rounded()) - origin.position
    let isExact = spread <= 1 && origin.spread <= 1
    // A step this small can't correct timestamp errors. Use the timestamps instead, but only if
    // they are exact to the sample.
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

/// Part of an audio stream to index, and the ``AudioAnchor`` for its position.
struct AudioFit: Sendable {
  /// Anchor from the beginning of the source; nil if this part is at the beginning.
  var origin: AudioAnchor?
  /// Bounds of the wanted audio, in stream time. If `end` is nil, the part ends with the source.
  var start: ClockTime?
  var end: ClockTime?
  /// True to throw ``InexactRange`` if the exact position of the audio is unknown; false to use the
  /// audio's timestamps in this case (``AudioTrack/isPlaced``).
  var isExact = true
}
