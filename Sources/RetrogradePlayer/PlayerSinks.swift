import GStreamer
import RetrogradeEngine

/// Sinks that show the video and play the audio, in `gst-launch-1.0` syntax.
struct PlayerSinks: Sendable {
  /// Nil: a window.
  var video: String?
  /// Nil: the usual loudspeakers.
  var audio: String?

  /// The properties of a `playbin` that say so.
  /// - Throws: ``RetrogradeError``: of code `usage` where a description can't be understood, `missingPlugin` where there is no
  ///   display or an element of it is not installed.
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

  /// Error to report for an error of one of the sinks; nil where it is another element's.
  func failure(_ error: GStreamerError) -> RetrogradeError? {
    guard let element = error.element, let made = Element(factory: element), made.isOfClass("Sink") else { return nil }
    // One that writes a file rather than show or play anything.
    if error.kind == .noSpace || element == "filesink" {
      return RetrogradeError.writing(made.isOfClass("Audio") ? audio ?? element : video ?? element, error)
    }
    return made.isOfClass("Audio")
      ? RetrogradeError(
        .missingPlugin,
        about: audio ?? element, "no audio device can be opened (\(error.message))",
        remedy: "name another audio sink, or “fakesink sync=true” "
          + "for silence", underlying: error)
      : RetrogradeError(
        .missingPlugin, about: video ?? element, "no window can be opened (\(error.message))",
        remedy: "name another video sink",
        underlying: error)
  }

  /// Text to report for a warning. `autoaudiosink` goes on in silence where no audio device can be opened,
  /// and passes on the error of the first one of all.
  static func text(of warning: GStreamerError) -> String {
    warning.element == "autoaudiosink"
      ? "nothing is heard: no audio device can be opened (\(warning.message)); the video is played without audio"
      : warning.message
  }
}
