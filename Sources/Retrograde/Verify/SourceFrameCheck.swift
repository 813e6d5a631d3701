import MediaTime
import RetrogradeEngine

/// Compares the source's frames, as they are read to be compared with the mirror's, with those of a plain decode.
struct SourceFrameCheck {
  private let plain: PlainFrames
  private(set) var compared = 0
  /// Frames that differ, and their hashes.
  private var others: [(number: Int, hash: UInt64)] = []
  /// Frames that the decoder calls damaged.
  private(set) var damaged = 0

  init(_ plain: PlainFrames) { self.plain = plain }

  /// - Parameters:
  ///   - hash: of a frame's pixels.
  ///   - number: its place in the source.
  mutating func add(_ hash: UInt64, number: Int) {
    guard let holds = plain.holds(hash, number: number) else {
      damaged += 1
      return
    }
    compared += 1
    if !holds { others.append((number, hash)) }
  }

  /// How many differ, and when in the source the first and the last of them start.
  var differing: (count: Int, first: ClockTime, last: ClockTime)? {
    let times = others.map { plain.time(of: $0.number) }
    guard let first = times.min(), let last = times.max() else { return nil }
    return (others.count, first, last)
  }

  /// Counts frames as damaged that another plain decode gives as they were read.
  /// - Parameter other: decoded without a seek too, in other threads.
  mutating func leaveOut(damagedBy other: PlainFrames) {
    let remaining = others.filter { other.holds($0.hash, number: $0.number) == false }
    damaged += others.count - remaining.count
    compared -= others.count - remaining.count
    others = remaining
  }

  func check(_ label: String) -> Verification.Check {
    var finding = "\(compared) match a plain decode"
    if let differing {
      finding =
        "\(differing.count) do not match a plain decode, between \(differing.first) and \(differing.last)"
    }
    if damaged > 0 { finding += "; \(damaged) are damaged and can't be judged" }
    return .init(
      "source frames\(label)", differing == nil, finding,
      [
        "compared": Double(compared), "differing": Double(differing?.count ?? 0), "damaged": Double(damaged),
      ])
  }
}
