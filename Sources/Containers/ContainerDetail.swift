/// Something that a container holds and no output does: a track of another kind, or what goes with one.
package struct ContainerDetail: Hashable, Sendable {
  /// For people, such as `timecode (tmcd)`.
  package let what: String
  /// nil if it is a track of its own, neither video, audio nor subtitles.
  package let kind: StreamKind?

  init(track what: String) {
    self.what = what
    kind = nil
  }

  init(_ what: String, of kind: StreamKind) {
    self.what = what
    self.kind = kind
  }
}
