/// Text that is shown in frames, such as can be kept in a plan; an ``Overlay`` draws anything.
public struct Lettering: Sendable, Codable, Hashable {
  /// Text that is broken into lines where it is too wide; it is plain, whatever marks are in it.
  public var caption: String?
  /// How the caption looks, where it stands, and when.
  public var captionStyle: CaptionStyle
  /// Whether the time in the source, and an arrow in the direction of play, stand in the upper left corner.
  public var showsTimecode: Bool

  public init(
    caption: String? = nil, captionStyle: CaptionStyle = CaptionStyle(), showsTimecode: Bool = false
  ) {
    self.caption = caption
    self.captionStyle = captionStyle
    self.showsTimecode = showsTimecode
  }

  /// What draws it; nil where there is nothing to draw.
  package var overlay: Overlay? {
    Overlays.all(
      [
        caption.map { Caption(text: $0, style: captionStyle, isBelowTimecode: showsTimecode).draw },
        showsTimecode ? Overlays.timecode : nil,
      ].compactMap { $0 })
  }
}
