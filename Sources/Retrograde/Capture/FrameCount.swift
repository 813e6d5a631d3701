import GStreamer
import MediaTime

/// Counts the frames that a live source dropped. Gaps in the source's frame numbers show dropped
/// frames; without frame numbers, gaps in the timestamps do.
struct FrameCount: Sendable {
  private(set) var lost = 0
  /// Time of the last frame.
  var last: ClockTime? { previous?.time }

  private var previous: (time: ClockTime, number: Int?)?
  /// Shortest interval so far between two frames.
  private var step: ClockTime?

  /// Adds a delivered frame.
  /// - Parameter number: the source's number of the frame; nil if the source does not number its
  ///   frames.
  mutating func add(_ time: ClockTime, number: Int?) {
    defer { previous = (time, number) }
    guard let previous else { return }
    let gap = time - previous.time
    if let number, let before = previous.number, number > before {
      lost = lost.addingReportingOverflow(number - before - 1).overflow ? lost : lost + (number - before - 1)
    } else if let step, step > .zero {
      let missing = (Double(gap.nanoseconds) / Double(step.nanoseconds)).rounded() - 1
      // Ignore jumps by years: these are wrong timestamps, not lost frames.
      if missing > 0, missing < 1e9 { lost += Int(missing) }
    }
    if gap > .zero { step = min(step ?? gap, gap) }
  }
}
