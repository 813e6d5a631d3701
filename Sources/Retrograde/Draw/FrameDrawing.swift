import GStreamer
import MediaTime
import RetrogradeEngine

/// What is drawn over the frames of a source, and before them.
struct FrameDrawing: Sendable {
  var overlay: Overlay?
  var title: Title?

  /// How much later everything starts.
  var lead: ClockTime { title?.duration ?? .zero }

  /// Gives the frames of the title to `body`, with the time of each.
  func title(_ painter: FramePainter, rate: Double, _ body: (Buffer, TimeSpan) throws -> Void) throws {
    guard let title, title.duration > .zero else { return }
    let step = ClockTime(seconds: 1 / max(rate, 1))
    var start = ClockTime.zero
    while start < title.duration {
      let end = min(start + step, title.duration)
      try body(try painter.blank { try title.draw($0, start) }, TimeSpan(start: start, end: end))
      start = end
    }
  }
}
