import RetrogradeEngine
import Paths

/// Text that is shown in frames, such as can be kept in a plan; an ``Overlay`` draws anything.
public struct Lettering: Sendable, Codable, Hashable {
  /// Text that is broken into lines where it is too wide; it is plain: marks in it have no effect.
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

  /// Overlay that draws the lettering; nil where there is nothing to draw.
  package var overlay: Overlay? {
    Overlays.all(
      [
        caption.map { Caption(text: $0, style: captionStyle, isBelowTimecode: showsTimecode).draw },
        showsTimecode ? Overlays.timecode : nil,
      ].compactMap { $0 })
  }

  /// Bytes of a caption, in UTF-8: more is no caption, and one word of 4096 takes a second a frame to lay out.
  static let longest = 1024

  /// - Throws: ``RetrogradeError`` of code `usage`, if the caption is too long, or cannot be drawn so.
  package func check() throws {
    guard let caption else { return }
    guard !caption.hasRawBytes else {
      throw RetrogradeError(.usage, "the caption is not UTF-8: \(caption)", remedy: "set the terminal to UTF-8")
    }
    guard caption.utf8.count <= Lettering.longest else {
      throw RetrogradeError(
        .usage, "the caption has \(caption.utf8.count) bytes: the most is \(Lettering.longest)",
        remedy: "shorten it")
    }
    try captionStyle.check()
  }
}
