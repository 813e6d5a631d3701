/// What kind of stream it is.
public enum StreamKind: String, Sendable, Codable {
  case video, audio, subtitles, chapters, other
}
