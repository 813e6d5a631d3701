public import MediaTime

/// A position in the source.
public enum SourcePosition: Sendable, Hashable, Codable, CustomStringConvertible {
  case time(ClockTime)
  /// The start of a frame, counted from 0.
  case frame(Int)
  /// A time before the end.
  case beforeEnd(ClockTime)
  /// The start of the first chapter with this name.
  case chapter(String)

  public static let start = SourcePosition.time(.zero)
  public static let end = SourcePosition.beforeEnd(.zero)

  /// The time, if the position is of the kind `time`; nil for other kinds.
  package var time: ClockTime? {
    if case .time(let time) = self { time } else { nil }
  }

  /// Text that ``init(parsing:)`` reads back.
  public var description: String {
    switch self {
    case .time(let time): "\(time.seconds.plain)"
    case .frame(let frame): "\(frame)f"
    case .beforeEnd(.zero): "end"
    case .beforeEnd(let time): "end-\(time.seconds.plain)"
    case .chapter(let name): name.contains("\"") ? "'\(name)'" : "\"\(name)\""
    }
  }

  /// Reads seconds (`2.5`, `2.5s`), minutes and seconds (`1:02.5`), hours (`1:00:00`), a frame
  /// (`250f`), `end`, a time before the end (`end-2.5`), or a chapter's name between quotes
  /// (`"Chorus"`).
  public init?(parsing text: String) {
    if text.count > 2, let quote = text.first, "\"'".contains(quote), text.last == quote {
      self = .chapter(String(text.dropFirst().dropLast()))
    } else if text == "end" {
      self = .end
    } else if text.hasPrefix("end-") {
      guard let time = SourcePosition.time(text.dropFirst(4)) else { return nil }
      self = .beforeEnd(time)
    } else if text.hasSuffix("f") || text.hasSuffix("F") {
      guard let frame = Int(text.dropLast()), frame >= 0 else { return nil }
      self = .frame(frame)
    } else {
      guard let time = SourcePosition.time(text[...]) else { return nil }
      self = .time(time)
    }
  }

  private static func time(_ text: Substring) -> ClockTime? {
    let text = text.hasSuffix("s") ? text.dropLast() : text
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      guard let value = Double(decimal: part), value >= 0, value.isFinite, index == 0 || value < 60,
        part.first?.isNumber == true || part.first == "."
      else { return nil }
      seconds = seconds * 60 + value
    }
    return ClockTime(seconds: seconds)
  }
}

extension SourcePosition: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
  /// A time in seconds.
  public init(floatLiteral seconds: Double) { self = .time(ClockTime(seconds: seconds)) }
  public init(integerLiteral seconds: Int) { self = .time(ClockTime(seconds: Double(seconds))) }
}

extension Double {
  /// The number without a trailing `.0`, such as 4 or 2.5.
  package var plain: String { self == rounded() && magnitude < 1e15 ? "\(Int(self))" : "\(self)" }
}
