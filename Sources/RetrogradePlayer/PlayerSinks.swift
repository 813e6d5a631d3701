import GStreamer
import RetrogradeEngine

/// Video and audio sinks, in `gst-launch-1.0` syntax.
struct PlayerSinks: Sendable {
  /// Video sink; nil for a window.
  var video: String?
  /// Audio sink; nil for the default audio device.
  var audio: String?

  /// Returns the properties of a `playbin` that set the sinks.
  /// - Throws: ``RetrogradeError`` of code `usage` if a description is invalid, or of code
  ///   `missingPlugin` if an element is not installed or there is no display.
  func properties() throws -> String {
    try [("video-sink", try video ?? Display.sink(), "show the video"), ("audio-sink", audio, "play the audio")]
      .compactMap { property, sink, purpose in
        guard let sink else { return nil }
        do {
          _ = try Pipeline(sink)
        } catch let error as GStreamerError {
          throw RetrogradeError(
            error.kind == .missingPlugin ? .missingPlugin : .usage,
            "“\(sink)” can't \(purpose): \(error.message)", underlying: error)
        }
        return "\(property)=\(Description.quoted(sink))"
      }.joined(separator: " ")
  }

  /// Returns the error to report for a failure of a sink; nil if the element that failed is not a
  /// sink.
  func failure(_ error: GStreamerError) -> RetrogradeError? {
    guard let element = error.element, let made = Element(factory: element), made.isOfClass("Sink") else { return nil }
    // The sink writes a file instead of showing or playing anything.
    if error.kind == .noSpace || element == "filesink" {
      return RetrogradeError.writing(made.isOfClass("Audio") ? audio ?? element : video ?? element, error)
    }
    return made.isOfClass("Audio")
      ? RetrogradeError(
        .missingPlugin,
        about: audio ?? element, "no audio device can be opened (\(error.message))",
        remedy: "use another audio sink, or “fakesink sync=true” "
          + "for silence", underlying: error)
      : RetrogradeError(
        .missingPlugin, about: video ?? element, "no window can be opened (\(error.message))",
        remedy: "use another video sink",
        underlying: error)
  }

  /// Returns the text of a warning. If no audio device can be opened, `autoaudiosink` only forwards
  /// the error of the first device that it tried, so the returned text adds that playback continues
  /// without audio.
  static func text(of warning: GStreamerError) -> String {
    warning.element == "autoaudiosink"
      ? "the video is played without audio: no audio device can be opened (\(warning.message))"
      : warning.message
  }
}
