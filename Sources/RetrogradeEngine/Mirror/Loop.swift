/// Named order of play. Each name stands for a standard ``Score``.
public enum Loop: String, Sendable, CaseIterable, Codable {
  case reverse
  /// Forwards, then backwards.
  case pingPong = "ping-pong"
  /// Backwards, then forwards.
  case reverseForward = "reverse-forward"
  case forward

  /// Score that the loop stands for.
  public var score: Score {
    Score(
      directions.map { .stretch(from: $0 == .forward ? .start : .end, to: $0 == .forward ? .end : .start) })
  }

  var directions: [Direction] {
    switch self {
    case .reverse: [.backward]
    case .pingPong: [.forward, .backward]
    case .reverseForward: [.backward, .forward]
    case .forward: [.forward]
    }
  }
}

/// The direction in which a part of the source is played.
public enum Direction: String, Sendable, Codable {
  case forward, backward

  var opposite: Direction { self == .forward ? .backward : .forward }
}
