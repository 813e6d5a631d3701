public import MediaTime

/// An order of play: parts of a source, each with its direction, speed and audio.
///
/// ```swift
/// reverser.options.playback.score = try Score(parsing: "0..3, hold 0.8, 3..0 x2")
/// ```
///
/// A score by itself neither invents nor drops frames. The frame at a turn is shown once, and the
/// speed sets how long frames are shown.
public struct Score: Hashable, Sendable, Codable {
  /// Audio of a part.
  public enum Audio: String, Hashable, Sendable, Codable, CaseIterable {
    /// Audio of the part, in the direction of its frames.
    case mirror
    /// Audio of the part, always forwards.
    case forward
    case mute
  }

  /// A part of the source, played from one position to another; backwards if `to` is before `from`.
  public struct Stretch: Hashable, Sendable, Codable {
    public var from: SourcePosition
    public var to: SourcePosition
    public var speed: Speed
    public var audio: Audio

    public init(from: SourcePosition, to: SourcePosition, speed: Speed = .natural, audio: Audio = .mirror) {
      (self.from, self.to, self.speed, self.audio) = (from, to, speed, audio)
    }
  }

  public enum Step: Hashable, Sendable, Codable {
    case stretch(Stretch)
    /// Holds the frame on screen for this long, in silence. A hold at the beginning of the score
    /// shows the first frame.
    case hold(ClockTime)

    public static func stretch(
      from: SourcePosition, to: SourcePosition, speed: Speed = .natural, audio: Audio = .mirror
    ) -> Step {
      .stretch(Stretch(from: from, to: to, speed: speed, audio: audio))
    }
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// True if any part is played faster or slower than the source.
  var changesSpeed: Bool {
    steps.contains { if case .stretch(let stretch) = $0 { stretch.speed != .natural } else { false } }
  }

  /// Default length of the audio crossfade at cuts.
  public static let joint = ClockTime(nanoseconds: 5_000_000)
}

extension Score: CustomStringConvertible {
  /// Text that ``init(parsing:)`` reads back.
  public var description: String { steps.map(\.description).joined(separator: ", ") }
}

extension Score.Step: CustomStringConvertible {
  public var description: String {
    switch self {
    case .hold(let time): "hold \(time.seconds.plain)"
    case .stretch(let stretch): stretch.description
    }
  }
}

extension Score.Stretch: CustomStringConvertible {
  public var description: String {
    var words = ["\(from)..\(to)"]
    if !speed.isConstant {
      words.append("ramp \(speed.first.plain)..\(speed.last.plain)")
    } else if speed != .natural {
      words.append("x\(speed.first.plain)")
    }
    if audio != .mirror { words.append(audio.rawValue) }
    return words.joined(separator: " ")
  }
}
