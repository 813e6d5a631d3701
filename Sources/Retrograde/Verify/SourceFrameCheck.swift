import MediaTime
import RetrogradeEngine

/// Checks that seeking does not change the source's frames. Compares frames from short ranges, each
/// decoded after a seek, with frames that were decoded forwards without seeks: a plain decode
/// (``PlainFrames``).
struct SourceFrameCheck {
  private let plain: PlainFrames
  private(set) var compared = 0
  /// Frames that differ from the plain decode: their numbers, and the hashes of their pixels.
  private var others: [(number: Int, hash: UInt64)] = []
  /// Number of frames that are not compared, because they are damaged in the source.
  private(set) var damaged = 0

  init(_ plain: PlainFrames) { self.plain = plain }

  /// Compares a frame with the plain decode.
  /// - Parameters:
  ///   - hash: hash of the frame's pixels.
  ///   - number: number of the frame in the source.
  mutating func add(_ hash: UInt64, number: Int) {
    guard let holds = plain.holds(hash, number: number) else {
      damaged += 1
      return
    }
    compared += 1
    if !holds { others.append((number, hash)) }
  }

  /// Number of differing frames, and the earliest and latest of their source times; nil if no frame
  /// differs.
  var differing: (count: Int, first: ClockTime, last: ClockTime)? {
    let times = others.map { plain.time(of: $0.number) }
    guard let first = times.min(), let last = times.max() else { return nil }
    return (others.count, first, last)
  }

  /// Reclassifies each differing frame as damaged if another plain decode outputs the same pixels
  /// for this frame. The pixels then depend on how the decoder conceals damage, not on seeking.
  /// - Parameter other: frames of another plain decode, with a different number of threads.
  mutating func excludeFrames(damagedBy other: PlainFrames) {
    let remaining = others.filter { other.holds($0.hash, number: $0.number) == false }
    damaged += others.count - remaining.count
    compared -= others.count - remaining.count
    others = remaining
  }

  func check(_ label: String) -> Verification.Check {
    var finding = "\(compared) are the same with and without seeks"
    if let differing {
      finding =
        "\(differing.count) differ if decoded without seeks, between \(differing.first) and \(differing.last)"
    }
    if damaged > 0 { finding += "; \(damaged) damaged \(damaged == 1 ? "frame was" : "frames were") not compared" }
    return .init(
      "source frames\(label)", differing == nil, finding,
      [
        "compared": Double(compared), "differing": Double(differing?.count ?? 0), "damaged": Double(damaged),
      ])
  }
}
