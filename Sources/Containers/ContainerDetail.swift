/// Something that a container holds and no output does: a track of another kind, a detail of a track, or one
/// of the file.
package struct ContainerDetail: Hashable, Sendable {
  package enum Owner: Hashable, Sendable {
    /// It is a track of its own, neither video, audio nor subtitles.
    case track
    /// Goes with streams of a kind.
    case streams(StreamKind)
    case file
  }

  /// For people, such as `timecode (tmcd)`.
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

  /// Loudspeakers that GStreamer has no names for.
  /// - Returns: nil if they have names, or are the usual ones of mono and stereo.
  init?(_ loudspeakers: (mask: UInt64?, channels: Int), _ name: String) {
    guard loudspeakers.mask == nil, loudspeakers.channels > 2 else { return nil }
    self.init("the places of the \(loudspeakers.channels) channels (\(name))", of: .audio)
  }

  init(_ what: String, of kind: StreamKind) {
    self.what = what
    owner = .streams(kind)
  }
}
