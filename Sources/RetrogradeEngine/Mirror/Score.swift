public import MediaTime

/// A score of time: which stretches of a source are played, one after the other, each in its direction, at its speed, with its audio.
///
/// ```swift
/// reverser.options.playback.score = try Score(parsing: "0..3, hold 0.8, 3..0 x2")
/// ```
///
/// No frame is made up and none is left out: a frame that is on show at a turn is shown once, and how long frames are shown follows from the
/// speed.
public struct Score: Hashable, Sendable, Codable {
  /// Audio of a stretch.
  public enum Audio: String, Hashable, Sendable, Codable, CaseIterable {
    /// The audio of the frames, in their direction.
    case mirror
    /// The source's audio of the same stretch, forwards also where the frames go backwards.
    case forward
    case mute
  }

  /// From one place of a source to another. Backwards, where the second comes before the first.
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
    /// The frame on show stays for so long, in silence. At the beginning that is the first one.
    case hold(ClockTime)

    public static func stretch(
      from: SourcePosition, to: SourcePosition, speed: Speed = .natural, audio: Audio = .mirror
    ) -> Step {
      .stretch(Stretch(from: from, to: to, speed: speed, audio: audio))
    }
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// Whether frames are shown for longer or shorter than in the source because of a speed.
  var changesSpeed: Bool {
    steps.contains { if case .stretch(let stretch) = $0 { stretch.speed != .natural } else { false } }
  }

  /// How long the sounds of two stretches are heard together where one that ends leaves a leap to the next.
  public static let joint = ClockTime(nanoseconds: 5_000_000)
}

extension Score: CustomStringConvertible {
  /// As ``init(parsing:)`` reads it.
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
