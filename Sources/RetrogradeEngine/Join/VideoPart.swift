import GStreamer
import MediaTime

/// Conversion of a video's frames to the format of the first of several joined videos.
package struct FrameFit: Sendable {
  /// Conversion elements, in `gst-launch-1.0` syntax.
  package var elements: [String]
  /// Caps of the result, in caps syntax.
  package var form: String

  package init(elements: [String], form: String) { (self.elements, self.form) = (elements, form) }
}

/// One of several videos that are played in sequence.
struct VideoPart: Sendable {
  let video: VideoSource
  /// Name of the video's file for the user.
  let name: String
  /// Offset from the video's own stream time to the time in the joined video.
  let offset: ClockTime
  /// Numbers of the video's frames in the joined video.
  let frames: Range<Int>
  /// Conversion of the frames to the format of the first video; nil if not needed.
  let fit: FrameFit?

  /// Returns the time span of `frames` in this video's stream time.
  /// - Parameter frames: frames of this video, numbered in the joined video.
  func span(of frames: Range<Int>) -> TimeSpan {
    let first = frames.lowerBound - self.frames.lowerBound
    return TimeSpan(
      start: video.timeline.starts[first], end: video.timeline.span(of: first + frames.count - 1).end)
  }

  /// Returns the warnings with the file's name, and with their times in the joined video.
  func inJoinedTime(_ warnings: [Warning]) -> [Warning] { warnings.map { $0.joined(name, laterBy: offset) } }
}

extension Warning {
  /// Returns the warning with the source's name, and with its times delayed by `offset`.
  func joined(_ name: String, laterBy offset: ClockTime) -> Warning {
    var warning = self
    warning.message = "\(name): \(message)"
    warning.span = span.map { TimeSpan(start: $0.start + offset, end: $0.end + offset) }
    return warning
  }
}
