public import Drawing
public import MediaTime
import RetrogradeEngine

/// Appearance, position and time of a caption.
public struct CaptionStyle: Sendable, Codable, Hashable {
  /// Position in the frame. Text is aligned to the named side.
  public enum Place: String, Sendable, Codable, CaseIterable {
    case topLeft = "top-left"
    case top
    case topRight = "top-right"
    case left
    case middle
    case right
    case bottomLeft = "bottom-left"
    case bottom
    case bottomRight = "bottom-right"
  }

  /// Family and style in Pango's syntax, such as `Serif Bold Italic`; without a size.
  public var font: String
  /// Font size, in pixels of the output; nil: 1/14 of the frame's shorter side.
  public var size: Double?
  public var place: Place
  public var color: Color
  /// Outline colour of the letters; nil: none.
  public var outline: Color?
  /// Colour of the box behind the text; nil: none.
  public var box: Color?
  /// Output time at which the caption appears; nil: at the start.
  public var start: ClockTime?
  /// Output time at which the caption disappears; nil: at the end.
  public var end: ClockTime?

  public init(
    font: String = "Sans Bold", size: Double? = nil, place: Place = .bottom, color: Color = .white,
    outline: Color? = .black.opacity(0.8), box: Color? = nil, start: ClockTime? = nil, end: ClockTime? = nil
  ) {
    self.font = font
    self.size = size
    self.place = place
    self.color = color
    self.outline = outline
    self.box = box
    self.start = start
    self.end = end
  }

  /// True if the caption is shown at `time` of the output.
  func isShown(at time: ClockTime) -> Bool {
    time >= start ?? .zero && end.map { time < $0 } ?? true
  }
}

extension CaptionStyle {
  /// Parses `font=Serif Bold, size=48, place=top, color=#ffcc00, outline=none, box=#00000080,
  /// from=1, to=3.5`: any of these keys, in any order. Missing keys get their defaults. A box
  /// replaces the outline, unless `text` sets an outline too.
  /// - Throws: ``RetrogradeError`` of code `usage`, with the invalid setting and the valid values.
  public init(parsing text: String) throws {
    self.init()
    var isOutlined = false
    for part in text.split(separator: ",") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
      guard pair.count == 2 else {
        throw CaptionStyle.refused(part.trimmed, "use font=, size=, place=, color=, outline=, box=, from= or to=")
      }
      let (name, value) = (pair[0].lowercased(), pair[1])
      switch name {
      case "font": font = value
      case "size": size = try CaptionStyle.number(part, value)
      case "place":
        guard let named = Place(rawValue: value.lowercased()) else {
          throw CaptionStyle.refused(
            part.trimmed, "choose \(Place.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        place = named
      case "color", "colour":
        guard let named = try CaptionStyle.color(part, value) else {
          throw CaptionStyle.refused(part.trimmed, "the text needs a colour")
        }
        color = named
      case "outline": (outline, isOutlined) = (try CaptionStyle.color(part, value), true)
      case "box": box = try CaptionStyle.color(part, value)
      case "from": start = try CaptionStyle.time(part, value)
      case "to": end = try CaptionStyle.time(part, value)
      default:
        throw CaptionStyle.refused(part.trimmed, "use font=, size=, place=, color=, outline=, box=, from= or to=")
      }
    }
    if box != nil, !isOutlined { outline = nil }
    try check()
  }

  /// - Throws: ``RetrogradeError`` of code `usage` if the style is invalid.
  package func check() throws {
    if font.split(separator: " ").last.map({ Double($0) != nil }) ?? true {
      throw CaptionStyle.refused("font=\(font)", "write a font name such as Serif Bold, and its size as size=48")
    }
    guard Text.isInstalled(font) else {
      throw CaptionStyle.refused("font=\(font)", "no such font is installed", remedy: "`fc-list : family` lists them")
    }
    if let size, !(1...2000).contains(size) {
      throw CaptionStyle.refused("size=\(size)", "the size must be 1 to 2000 pixels")
    }
    if let end, end <= start ?? .zero {
      throw CaptionStyle.refused("to=\(end.seconds)", "the caption would end before it begins")
    }
  }

  private static func number(_ part: Substring, _ value: String) throws -> Double {
    guard let number = Double(value), number.isFinite else { throw refused(part.trimmed, "not a number") }
    return number
  }

  private static func time(_ part: Substring, _ value: String) throws -> ClockTime {
    guard case .time(let time)? = SourcePosition(parsing: value) else {
      throw refused(part.trimmed, "write a time such as 2.5 (seconds) or 1:02.5")
    }
    return time
  }

  /// Parses a colour; nil for `none`.
  private static func color(_ part: Substring, _ value: String) throws -> Color? {
    if value.lowercased() == "none" { return nil }
    guard let color = Color(parsing: value) else {
      throw refused(
        part.trimmed, "write a colour such as gold, #ffcc00, or #ffcc0080 (half transparent)")
    }
    return color
  }

  private static func refused(_ part: String, _ why: String, remedy: Message? = nil) -> RetrogradeError {
    RetrogradeError(.usage, "\(setting: .captionStyle) \(part): \(why)", remedy: remedy)
  }
}

extension Substring {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
