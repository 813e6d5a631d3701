import GStreamer
import MediaTime

/// How frames of one video are made like those of another that they are joined to.
package struct FrameFit: Sendable {
  /// Elements that the frames go through, in `gst-launch-1.0` syntax.
  package var elements: [String]
  /// The caps that they have in the end, in caps syntax.
  package var form: String

  package init(elements: [String], form: String) { (self.elements, self.form) = (elements, form) }
}

/// One video of several that are played one after the other, as one.
struct VideoPart: Sendable {
  let video: VideoSource
  /// Name of its file as users know it.
  let name: String
  /// Time by which its frames are shown later than in its own stream time.
  let offset: ClockTime
  /// The places of its frames among all.
  let frames: Range<Int>
  /// Conversion that makes its frames like those of the first video; nil where they are.
  let fit: FrameFit?

  /// When frames are shown in its own stream time, by their places among all.
  func span(of frames: Range<Int>) -> TimeSpan {
    let first = frames.lowerBound - self.frames.lowerBound
    return TimeSpan(
      start: video.timeline.starts[first], end: video.timeline.span(of: first + frames.count - 1).end)
  }

  /// Warnings about its frames, with times and name for the joined video.
  func told(_ warnings: [Warning]) -> [Warning] { warnings.map { $0.joined(name, laterBy: offset) } }
}

extension Warning {
  /// The warning as it reads for one of several sources, whose times are so much later.
  func joined(_ name: String, laterBy offset: ClockTime) -> Warning {
    var warning = self
    warning.message = "\(name): \(message)"
    warning.span = span.map { TimeSpan(start: $0.start + offset, end: $0.end + offset) }
    return warning
  }
}
