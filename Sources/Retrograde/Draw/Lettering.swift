import RetrogradeEngine
import Paths

/// Text over the frames. Unlike an ``Overlay``, which is code, the text can be stored in the plan
/// of a work folder.
public struct Lettering: Sendable, Codable, Hashable {
  /// Caption, as plain text: markup has no effect. Long lines are wrapped.
  public var caption: String?
  /// Appearance, position and time of the caption.
  public var captionStyle: CaptionStyle
  /// True to show the source time, and an arrow in the direction of play, in the upper left corner.
  public var showsTimecode: Bool

  public init(
    caption: String? = nil, captionStyle: CaptionStyle = CaptionStyle(), showsTimecode: Bool = false
  ) {
    self.caption = caption
    self.captionStyle = captionStyle
    self.showsTimecode = showsTimecode
  }

  /// Overlay that draws the caption and the timecode; nil if there is neither.
  package var overlay: Overlay? {
    Overlays.all(
      [
        caption.map { Caption(text: $0, style: captionStyle, isBelowTimecode: showsTimecode).draw },
        showsTimecode ? Overlays.timecode : nil,
      ].compactMap { $0 })
  }

  /// Largest length of a caption in bytes of UTF-8, limited because the layout of a word of 4096
  /// bytes takes a second per frame.
  static let longest = 1024

  /// - Throws: ``RetrogradeError`` of code `usage` if the caption is too long or not UTF-8, or if
  ///   its style is invalid.
  package func check() throws {
    guard let caption else { return }
    guard !caption.hasRawBytes else {
      throw RetrogradeError(.usage, "the caption is not UTF-8: \(caption)", remedy: "set the terminal to UTF-8")
    }
    guard caption.utf8.count <= Lettering.longest else {
      throw RetrogradeError(
        .usage, "the caption has \(caption.utf8.count) bytes; at most \(Lettering.longest) are allowed",
        remedy: "shorten it")
    }
    try captionStyle.check()
  }
}
