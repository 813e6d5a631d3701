import MediaTime

extension Score {
  /// Reads steps separated by commas, semicolons or line ends. A `#` starts a comment.
  ///
  ///     0..4 x0.5, hold 0.8, 4..0 x2       # slowly forwards, hold, fast backwards
  ///     0..end ramp 1..0.25                # slower and slower
  ///     "Chorus"..end-2.5 mute             # from a chapter to 2.5 s before the end, without audio
  ///
  /// Positions are written as for ``SourcePosition/init(parsing:)``. A part may have a speed (`x2`,
  /// `ramp 1..0.25`; ``Speed/limits``) and an ``Audio``.
  /// - Throws: ``RetrogradeError`` of code `usage`, which names the invalid step and the reason.
  public init(parsing text: String) throws {
    let parts = Score.split(text)
    guard !parts.isEmpty else { throw Score.error("the score is empty", "write what to play, such as 0..end") }
    steps = try parts.enumerated().map { number, part in
      do {
        return try Step(parsing: part)
      } catch let error as StepError {
        throw Score.error("step \(number + 1) (\(part)): \(error.reason)", error.remedy)
      }
    }
    guard steps.contains(where: { if case .stretch = $0 { true } else { false } }) else {
      throw Score.error("the score plays no part, so there is no frame to hold", "add a part to play, such as 0..end")
    }
  }

  static func error(_ reason: String, _ remedy: String) -> RetrogradeError {
    RetrogradeError(.usage, "\(setting: .score): \(reason)", remedy: "\(remedy)")
  }

  static let longestHold = ClockTime(seconds: 86_400)

  /// Returns the steps of a text, without comments. Quoted text is not split.
  private static func split(_ text: String) -> [String] {
    var steps = [""]
    var quote: Character?
    var isComment = false
    for character in text {
      if character.isNewline { (isComment, quote) = (false, nil) }
      if isComment { continue }
      if quote == nil, character == "#" {
        isComment = true
      } else if quote == nil, character.isNewline || ",;".contains(character) {
        steps.append("")
      } else {
        if character == quote {
          quote = nil
        } else if quote == nil, character == "\"" || character == "'" {
          quote = character
        }
        steps[steps.count - 1].append(character)
      }
    }
    return steps.map(\.trimmed).filter { !$0.isEmpty }
  }
}

/// Reason why a step is invalid, and an example of a valid one.
private struct StepError: Error {
  var reason: String
  var remedy: String
}

extension Score.Step {
  fileprivate init(parsing text: String) throws {
    if let rest = text.word("hold") {
      guard case .time(let time) = SourcePosition(parsing: rest), time > .zero,
        time <= Score.longestHold
      else {
        throw StepError(reason: "hold needs a time of at most one day", remedy: "write seconds, such as hold 0.8")
      }
      self = .hold(time)
    } else {
      self = .stretch(try Score.Stretch(parsing: text))
    }
  }
}

extension Score.Stretch {
  fileprivate init(parsing text: String) throws {
    var (from, rest) = try Self.place(text)
    guard rest.hasPrefix("..") else {
      throw StepError(
        reason: "expected two positions with two dots between them", remedy: "write 0..4, end..0, or hold 0.8")
    }
    (self.from, rest) = (from, String(rest.dropFirst(2)).trimmed)
    (from, rest) = try Self.place(rest)
    (to, speed, audio) = (from, .natural, .mirror)
    var hasSpeed = false
    while !rest.isEmpty {
      let word = String(rest.prefix { !$0.isWhitespace })
      rest = String(rest.dropFirst(word.count)).trimmed
      if let audio = Score.Audio(rawValue: word) {
        self.audio = audio
        continue
      }
      guard !hasSpeed else { throw StepError(reason: "\(word) is not allowed after the speed", remedy: Self.words) }
      if word == "ramp" {
        let ends = rest.prefix { !$0.isWhitespace }
        speed = try Self.ramp(String(ends))
        rest = String(rest.dropFirst(ends.count)).trimmed
      } else if word.hasPrefix("x"), let value = Double(decimal: word.dropFirst()) {
        speed = Speed(try Self.possible(value))
      } else {
        throw StepError(reason: "\(word) is unknown", remedy: Self.words)
      }
      hasSpeed = true
    }
  }

  private static let words =
    "after a part, write a speed (x2, or ramp 1..0.25), an audio word (mirror, forward or mute), or both"

  /// Returns the position at the beginning of `text`, and the remaining text.
  private static func place(_ text: String) throws -> (SourcePosition, String) {
    var place = ""
    var quote: Character?
    var rest = text[...]
    while let character = rest.first {
      if quote == nil, character.isWhitespace || rest.hasPrefix("..") { break }
      if character == quote {
        quote = nil
      } else if quote == nil, character == "\"" || character == "'" {
        quote = character
      }
      place.append(character)
      rest = rest.dropFirst()
    }
    guard let position = SourcePosition(parsing: place) else {
      throw StepError(
        reason: place.isEmpty ? "a position is missing" : "\(place) is not a valid position",
        remedy: "write a time (2.5 or 1:02.5), a frame (250f), end, end-2.5, or a chapter's name in quotes")
    }
    return (position, String(rest).trimmed)
  }

  private static func ramp(_ text: String) throws -> Speed {
    guard let dots = text.firstRange(of: ".."), let first = Double(decimal: text[..<dots.lowerBound]),
      let last = Double(decimal: text[dots.upperBound...])
    else { throw StepError(reason: "a ramp needs two speeds", remedy: "write ramp 1..0.25") }
    return Speed(from: try possible(first), to: try possible(last))
  }

  private static func possible(_ speed: Double) throws -> Double {
    guard Speed.limits.contains(speed) else {
      throw StepError(
        reason: "a speed must be from \(Speed.limits.lowerBound.plain) to \(Speed.limits.upperBound.plain)",
        remedy: "to play backwards, write the later position first (4..0); for a pause, write hold 0.8")
    }
    return speed
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }

  /// Returns the text after `word`; nil if the text does not begin with that word.
  fileprivate func word(_ word: String) -> String? {
    hasPrefix(word) && dropFirst(word.count).first?.isWhitespace ?? true ? String(dropFirst(word.count)).trimmed : nil
  }
}
