/// Detail of a file that no output can keep: a track of an unsupported kind, or a property of a
/// track or of the whole file.
package struct ContainerDetail: Hashable, Sendable {
  package enum Owner: Hashable, Sendable {
    /// Track that is neither video, audio nor subtitles.
    case track
    /// Property of one or more streams of a kind.
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

  /// Creates a detail for speaker positions that a GStreamer channel mask cannot express.
  /// - Returns: nil for mono and stereo, and if there is a mask.
  init?(_ loudspeakers: (mask: UInt64?, channels: Int), _ name: String) {
    guard loudspeakers.mask == nil, loudspeakers.channels > 2 else { return nil }
    self.init("the loudspeaker positions of the \(loudspeakers.channels) channels (\(name))", of: .audio)
  }

  init(_ what: String, of kind: StreamKind) {
    self.what = what
    owner = .streams(kind)
  }
}
