/// Kind of a stream.
public enum StreamKind: String, Sendable, Codable {
  case video, audio, subtitles, chapters, other
}
