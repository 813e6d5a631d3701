import MediaTime
import RetrogradeEngine

/// Compares the source's frames, as they are read to be compared with the mirror's, with those of a plain decode.
struct SourceFrameCheck {
  private let plain: PlainFrames
  private(set) var compared = 0
  /// How many differ, and when in the source the first and the last of them start.
  private(set) var differing: (count: Int, first: ClockTime, last: ClockTime)?
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
    if holds { return }
    let time = plain.time(of: number)
    differing = (
      (differing?.count ?? 0) + 1, min(differing?.first ?? time, time), max(differing?.last ?? time, time)
    )
  }

  func check(_ label: String) -> Verification.Check {
    var finding = "\(compared) are those of a plain decode"
    if let differing {
      finding =
        "\(differing.count) are not those of a plain decode, between \(differing.first) and \(differing.last)"
    }
    if damaged > 0 { finding += "; \(damaged) are damaged and can't be judged" }
    return .init(
      "source frames\(label)", differing == nil, finding,
      [
        "compared": Double(compared), "differing": Double(differing?.count ?? 0), "damaged": Double(damaged),
      ])
  }
}
