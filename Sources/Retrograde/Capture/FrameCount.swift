import GStreamer
import MediaTime

/// Counts the frames that a live source had and did not give: by the source's own numbers, or else by time.
struct FrameCount: Sendable {
  private(set) var lost = 0
  /// When the last one came.
  var last: ClockTime? { previous?.time }

  private var previous: (time: ClockTime, number: Int?)?
  /// The shortest time between two frames.
  private var step: ClockTime?

  /// - Parameter number: by which the source counts it; nil where it does not count.
  mutating func add(_ time: ClockTime, number: Int?) {
    defer { previous = (time, number) }
    guard let previous else { return }
    let gap = time - previous.time
    if let number, let before = previous.number, number > before {
      lost = lost.addingReportingOverflow(number - before - 1).overflow ? lost : lost + (number - before - 1)
    } else if let step, step > .zero {
      let missing = (Double(gap.nanoseconds) / Double(step.nanoseconds)).rounded() - 1
      // A source that leaps by years has not lost a frame for each moment.
      if missing > 0, missing < 1e9 { lost += Int(missing) }
    }
    if gap > .zero { step = min(step ?? gap, gap) }
  }
}
