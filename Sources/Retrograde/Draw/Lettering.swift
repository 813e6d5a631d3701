/// Text that is shown in every frame, such as can be kept in a plan; an ``Overlay`` draws anything.
public struct Lettering: Sendable, Codable, Hashable {
  /// Text at the lower edge, in the middle.
  public var caption: String?
  /// Whether the time in the source, and an arrow in the direction of play, stand in the upper left corner.
  public var showsTimecode: Bool

  public init(caption: String? = nil, showsTimecode: Bool = false) {
    self.caption = caption
    self.showsTimecode = showsTimecode
  }

  /// What draws it; nil where there is nothing to draw.
  package var overlay: Overlay? {
    Overlays.all([caption.map(Overlays.caption), showsTimecode ? Overlays.timecode : nil].compactMap { $0 })
  }
}
