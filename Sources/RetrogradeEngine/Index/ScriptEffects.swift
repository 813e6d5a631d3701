import MediaTime

/// Effects in a line of an SSA or ASS script that run while the line is shown, such as fades.
struct ScriptEffects {
  /// The line with its fades and moves reversed. Other effects are unchanged.
  private(set) var reversedLine: [UInt8] = []
  /// Names of all effects.
  private(set) var all: Set<String> = []
  /// Names of the effects that are unchanged in ``reversedLine``.
  private(set) var unchanged: Set<String> = []

  /// - Parameters:
  ///   - line: line as in Matroska packets: eight fields and the text, with commas between them.
  ///   - duration: time for which the line is shown.
  init(_ line: [UInt8], _ duration: ClockTime) {
    reversedLine.reserveCapacity(line.count)
    noteEffectField(of: line)
    let milliseconds = Int(duration.nanoseconds / 1_000_000)
    var isOverride = false
    var place = line.startIndex
    while place < line.endIndex {
      switch line[place] {
      case UInt8(ascii: "{"): isOverride = true
      case UInt8(ascii: "}"): isOverride = false
      default: break
      }
      if isOverride, line[place] == UInt8(ascii: "\\"), let effect = Effect(line[(place + 1)...]) {
        all.insert("\\\(effect.name)")
        if let reversed = effect.reversed(milliseconds) {
          reversedLine += "\\\(reversed)".utf8
        } else {
          unchanged.insert("\\\(effect.name)")
          reversedLine += line[place..<effect.end]
        }
        place = effect.end
      } else {
        reversedLine.append(line[place])
        place += 1
      }
    }
  }

  /// Notes a scrolling effect, which is in the last field before the text.
  private mutating func noteEffectField(of line: [UInt8]) {
    let fields = line.split(separator: UInt8(ascii: ","), maxSplits: 8, omittingEmptySubsequences: false)
    guard fields.count == 9 else { return }
    let effect = String(decoding: fields[7].prefix { $0 != UInt8(ascii: ";") }.prefix(16), as: UTF8.self)
    guard ["banner", "scroll up", "scroll down"].contains(effect.lowercased()) else { return }
    all.insert(effect)
    unchanged.insert(effect)
  }
}

/// Override code that changes while a line is shown.
private struct Effect {
  let name: String
  /// Index after the code.
  let end: Int
  private var arguments: [String] = []

  /// - Parameter text: text after a backslash.
  /// - Returns: nil if the code does not depend on time.
  init?(_ text: ArraySlice<UInt8>) {
    guard let name = Effect.names.first(where: { text.starts(with: "\($0)(".utf8) }) else {
      // Karaoke: \k, \K, \kf, \ko or \kt, and a time.
      guard let first = text.first, first | 0x20 == UInt8(ascii: "k"),
        let next = text.dropFirst().first(where: { !"fot".utf8.contains($0) }),
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(next)
      else { return nil }
      (self.name, end) = ("k", text.startIndex + 1)
      return
    }
    self.name = name
    // Real arguments are short. The limit keeps the search fast if parentheses are not closed.
    let inner = text.dropFirst(name.utf8.count + 1).prefix(200)
    guard name != "t", let close = inner.firstIndex(where: { ")}".utf8.contains($0) }),
      inner[close] == UInt8(ascii: ")")
    else {
      end = text.startIndex + name.utf8.count
      return
    }
    end = close + 1
    arguments = inner[..<close].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
      String(decoding: $0.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
  }

  private static let names = ["fade", "fad", "move", "t"]

  /// Returns the code that runs backwards; nil if there is none.
  /// - Parameter duration: time for which the line is shown, in milliseconds.
  func reversed(_ duration: Int) -> String? {
    let reversed: [String]?
    switch (name, arguments.count) {
    case ("fad", 2), ("fade", 2): reversed = arguments.reversed()
    case ("fade", 7):
      reversed = times(arguments[3...], duration).map { Array(arguments[..<3].reversed()) + $0 }
    case ("move", 4): reversed = Array(arguments[2...] + arguments[..<2])
    // Two zeros mean the whole time.
    case ("move", 6) where arguments[4...].allSatisfy({ Int($0) == 0 }):
      reversed = Array(arguments[2..<4] + arguments[..<2])
    case ("move", 6):
      reversed = times(arguments[4...], duration).map { times in
        // A text that starts to move after the end of its line does not move. Two times of 0 or less
        // would mean the whole time.
        if times.allSatisfy({ (Int($0) ?? 0) <= 0 }) { return Array(arguments[..<2] + arguments[..<2]) }
        return Array(arguments[2..<4] + arguments[..<2]) + times
      }
    default: reversed = nil
    }
    return reversed.map { "\(name)(\($0.joined(separator: ",")))" }
  }

  /// Converts times, counted in milliseconds from the start of the line, to the times in the
  /// reversed line; nil if any time is invalid.
  private func times(_ times: ArraySlice<String>, _ duration: Int) -> [String]? {
    let values = times.compactMap { Int($0) }
    guard values.count == times.count, values.allSatisfy({ (0...1_000_000_000).contains($0) }) else { return nil }
    return values.reversed().map { "\(duration - $0)" }
  }
}

extension SubtitleTrack {
  /// Returns a warning about script effects that do not follow the direction, the speed or the
  /// cut of their subtitles in the output; nil if there are none.
  package func unreversedEffects(_ legs: [PlaybackLeg]) -> Warning? {
    guard isScript else { return nil }
    var names: Set<String> = []
    var count = 0
    for cue in cues {
      let found = unreversedEffects(of: cue, legs)
      names.formUnion(found)
      count += found.isEmpty ? 0 : 1
    }
    guard count > 0 else { return nil }
    return Warning(
      .converted,
      "not reversed: effects in \(counted(count, "subtitle")) (\(names.sorted().joined(separator: ", ")))",
      count: count)
  }

  private func unreversedEffects(of cue: Cue, _ legs: [PlaybackLeg]) -> Set<String> {
    guard cue.bytes.contains(UInt8(ascii: "\\")) || cue.bytes.contains(UInt8(ascii: ";")) else { return [] }
    let effects = ScriptEffects(cue.bytes, cue.span.duration)
    guard !effects.all.isEmpty else { return [] }
    return legs.reduce(into: []) { names, leg in
      guard let part = cue.part(in: leg) else { return }
      if !cue.isWhole(part, in: leg) {
        names.formUnion(effects.all)
      } else if leg.direction == .backward {
        names.formUnion(effects.unchanged)
      }
    }
  }
}

extension Cue {
  /// Part of the cue's span that `leg` plays; nil if it plays none.
  func part(in leg: PlaybackLeg) -> TimeSpan? {
    let part = TimeSpan(start: max(span.start, leg.span.start), end: min(span.end, leg.span.end))
    return part.start < part.end ? part : nil
  }

  /// True if `leg` plays all of the cue, forwards or backwards, for as long as in the source.
  fileprivate func isWhole(_ part: TimeSpan, in leg: PlaybackLeg) -> Bool {
    part == span && leg.place(part).duration == span.duration
  }

  /// Bytes of the cue in the output, for a track that is a script.
  /// - Parameter part: part of the span that `leg` plays.
  func script(_ part: TimeSpan, in leg: PlaybackLeg) -> [UInt8] {
    leg.direction == .backward && isWhole(part, in: leg) ? ScriptEffects(bytes, span.duration).reversedLine : bytes
  }
}
