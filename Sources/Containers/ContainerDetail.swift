/// Detail that cannot be kept in any output: a track of an unsupported kind, or a property of a
/// track or of the file.
package struct ContainerDetail: Hashable, Sendable {
  package enum Owner: Hashable, Sendable {
    /// A separate track that is neither video, audio nor subtitles.
    case track
    /// Property of all streams of a kind.
    case streams(StreamKind)
    case file
  }

  /// Displayed name, such as `timecode (tmcd)`.
  package let what: String
  package let owner: Owner

  init(track what: String) {
    self.what = what
    owner = .track
  }

  package init(file what: String) {
    self.what = what
    owner = .file
  }

  /// Creates a detail for speaker positions without a GStreamer name.
  /// - Returns: nil if they have names, or for mono and stereo.
  init?(_ loudspeakers: (mask: UInt64?, channels: Int), _ name: String) {
    guard loudspeakers.mask == nil, loudspeakers.channels > 2 else { return nil }
    self.init("the loudspeaker positions of the \(loudspeakers.channels) channels (\(name))", of: .audio)
  }

  init(_ what: String, of kind: StreamKind) {
    self.what = what
    owner = .streams(kind)
  }
}
