public import Drawing
public import MediaTime
import RetrogradeEngine

/// How a caption looks, where it stands, and when.
public struct CaptionStyle: Sendable, Codable, Hashable {
  /// A place in the picture; text is aligned to the side that it names.
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

  /// Family and style, as Pango names them, such as `Serif Bold Italic`; without a size.
  public var font: String
  /// Size of the letters, in pixels of the picture as it is written; nil: a 14th of its shorter side.
  public var size: Double?
  public var place: Place
  public var color: Color
  /// Colour of the edge around the letters; nil: none.
  public var outline: Color?
  /// Colour of a box behind the letters; nil: none.
  public var box: Color?
  /// From when on it is shown, in the time of the output; nil: from its start.
  public var start: ClockTime?
  /// When it is shown no more; nil: to its end.
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

  /// Whether it is shown at `time` of the output.
  func isShown(at time: ClockTime) -> Bool {
    time >= start ?? .zero && end.map { time < $0 } ?? true
  }
}

extension CaptionStyle {
  /// Reads `font=Serif Bold, size=48, place=top, color=#ffcc00, outline=none, box=#00000080, from=1, to=3.5`:
  /// any of them, in any order; the others are as usual. A box takes the place of the outline unless that is
  /// asked for too.
  /// - Throws: ``RetrogradeError`` of code `usage`, with the part that can't be read, and the valid ones.
  public init(parsing text: String) throws {
    self.init()
    var isOutlined = false
    for part in text.split(separator: ",") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
      guard pair.count == 2 else {
        throw CaptionStyle.refused(part.trimmed, "choose font, size, place, color, outline, box, from or to")
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
          throw CaptionStyle.refused(part.trimmed, "letters need a colour")
        }
        color = named
      case "outline": (outline, isOutlined) = (try CaptionStyle.color(part, value), true)
      case "box": box = try CaptionStyle.color(part, value)
      case "from": start = try CaptionStyle.time(part, value)
      case "to": end = try CaptionStyle.time(part, value)
      default:
        throw CaptionStyle.refused(part.trimmed, "choose font, size, place, color, outline, box, from or to")
      }
    }
    if box != nil, !isOutlined { outline = nil }
    try check()
  }

  /// - Throws: ``RetrogradeError`` of code `usage`, where nothing can be drawn so.
  package func check() throws {
    if font.split(separator: " ").last.map({ Double($0) != nil }) ?? true {
      throw CaptionStyle.refused("font=\(font)", "write a name such as Serif Bold, and the size as size=48")
    }
    guard Text.isInstalled(font) else {
      throw CaptionStyle.refused("font=\(font)", "no such font is installed", remedy: "`fc-list : family` lists them")
    }
    if let size, !(1...2000).contains(size) {
      throw CaptionStyle.refused("size=\(size)", "letters are 1 to 2000 pixels high")
    }
    if let end, end <= start ?? .zero {
      throw CaptionStyle.refused("to=\(end.seconds)", "it would end before it begins")
    }
  }

  private static func number(_ part: Substring, _ value: String) throws -> Double {
    guard let number = Double(value), number.isFinite else { throw refused(part.trimmed, "not a number") }
    return number
  }

  private static func time(_ part: Substring, _ value: String) throws -> ClockTime {
    guard case .time(let time)? = SourcePosition(parsing: value) else {
      throw refused(part.trimmed, "times are seconds, such as 2.5, or 1:02.5")
    }
    return time
  }

  /// nil: `none`.
  private static func color(_ part: Substring, _ value: String) throws -> Color? {
    if value.lowercased() == "none" { return nil }
    guard let color = Color(parsing: value) else {
      throw refused(
        part.trimmed, "colours are names, such as gold, or #ffcc00, or #ffcc0080 for a half transparent one")
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
