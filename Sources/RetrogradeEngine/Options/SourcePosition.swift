public import MediaTime

/// A place in the source.
public enum SourcePosition: Sendable, Hashable, Codable, CustomStringConvertible {
  case time(ClockTime)
  /// The start of a frame, counted from 0.
  case frame(Int)

  /// nil where it is not a time.
  package var time: ClockTime? {
    if case .time(let time) = self { time } else { nil }
  }

  /// As ``init(parsing:)`` reads it.
  public var description: String {
    switch self {
    case .time(let time): "\(time.seconds)"
    case .frame(let frame): "\(frame)f"
    }
  }

  /// Reads seconds (`2.5`), minutes and seconds (`1:02.5`), hours (`1:00:00`) or a frame (`250f`).
  public init?(parsing text: String) {
    if text.hasSuffix("f") || text.hasSuffix("F") {
      guard let frame = Int(text.dropLast()), frame >= 0 else { return nil }
      self = .frame(frame)
      return
    }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for (index, part) in parts.enumerated() {
      guard let value = Double(part), value >= 0, value.isFinite, index == 0 || value < 60,
        part.first?.isNumber == true || part.first == "."
      else { return nil }
      seconds = seconds * 60 + value
    }
    self = .time(ClockTime(seconds: seconds))
  }
}
