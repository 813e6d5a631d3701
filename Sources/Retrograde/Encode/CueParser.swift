import MediaTime
import RetrogradeEngine

/// Parser of SubRip and WebVTT files.
///
/// GStreamer's `subparse` could read these files, but silently drops some cues: cues without a
/// number, cues that end before the previous cue, and cues after a blank line or a zero byte in
/// another cue. `subparse` also drops tags, and reads a whole file in another encoding if one
/// character is invalid (seen in 1.22; `parse_subrip`, `convert_encoding`).
struct CueParser {
  private(set) var cues: [Cue] = []
  private let isWeb: Bool
  /// Timing of the cue whose lines are in ``pending``; nil before the first cue.
  private var current: CueTiming?
  /// Lines since the last timing line.
  private var pending: [ArraySlice<UInt8>] = []
  /// Length of the longest cue in bytes.
  private(set) var longestCue = 0
  private var strayLines = 0
  private var cuesWithSettings = 0
  private var cuesWithLostMarks = 0
  private var lostMarks: Set<String> = []
  private var lostBlocks: Set<String> = []

  /// Parses a file.
  /// - Parameter bytes: content of the file in UTF-8, or in an encoding with one byte for each
  ///   ASCII character.
  /// - Returns: nil if the file is neither WebVTT nor SubRip.
  /// - Throws: `CancellationError`.
  init?(_ bytes: [UInt8], _ cancellation: Cancellation) throws {
    isWeb = bytes.starts(with: "WEBVTT".utf8)
    // In old files, CR ends lines. Before LF, CR counts as white space.
    let isOld = !bytes.contains(UInt8(ascii: "\n"))
    let lines = bytes.split(separator: UInt8(ascii: isOld ? "\r" : "\n"), omittingEmptySubsequences: false)
    // SubRip has no signature. SAMI has "-->" at the end of comments, but no timing line.
    guard isWeb || lines.prefix(CueParser.longestStart).contains(where: { CueTiming($0) != nil }) else { return nil }
    for (number, line) in lines.enumerated() {
      if number % 4096 == 0 { try cancellation.check() }
      add(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
    finishCue()
  }

  /// Number of lines at the start of a file that are searched for a timing line. A file without a
  /// timing line there is not SubRip.
  private static let longestStart = 100

  private mutating func add(_ line: ArraySlice<UInt8>) {
    guard let timing = CueTiming(line) else { return pending.append(line) }
    if isNamed { pending.removeLast() }
    finishCue()
    current = timing
  }

  /// True if the last line is the number or the name of the next cue. SubRip has a number on the
  /// line before each timing line; WebVTT may have any text there, after a blank line.
  private var isNamed: Bool {
    guard let last = pending.last, !last.isBlank else { return false }
    return isWeb ? pending.dropLast().last?.isEmpty == true : last.trimmed.allSatisfy(\.isDigit)
  }

  private mutating func finishCue() {
    // In WebVTT, a line of white space is text. YouTube writes such lines.
    let isWeb = isWeb
    var blocks = pending.split { isWeb ? $0.isEmpty : $0.isBlank }
    if let current {
      // An empty line ends a WebVTT cue. In SubRip, only the next timing line does.
      if !isWeb {
        add(current, pending.trimmingBlankLines)
        blocks = []
      } else if pending.first?.isEmpty == false {
        add(current, Array(blocks.removeFirst()).trimmingBlankLines)
      }
    }
    for block in blocks { noteBlock(block) }
    pending = []
  }

  private mutating func add(_ timing: CueTiming, _ lines: ArraySlice<ArraySlice<UInt8>>) {
    guard !lines.isEmpty else { return }
    let text = lines.map { SubtitleEncoding.text(ofLine: $0) }.joined(separator: "\n")
    longestCue = max(longestCue, text.utf8.count)
    var lost: Set<String> = []
    let markup = isWeb ? SubtitleText.markup(ofWeb: text, without: &lost) : SubtitleText.markup(ofSubRip: text)
    cues.append(Cue(span: timing.span, bytes: Array(markup.utf8)))
    cuesWithSettings += timing.hasSettings ? 1 : 0
    cuesWithLostMarks += lost.isEmpty ? 0 : 1
    lostMarks.formUnion(lost)
  }

  /// Records what is lost with a block of lines outside all cues: styles, regions or stray lines.
  private mutating func noteBlock(_ block: ArraySlice<ArraySlice<UInt8>>) {
    let name = block.first.map { String(decoding: $0.prefix { !$0.isBlank }, as: UTF8.self) }
    switch isWeb ? name : nil {
    case "STYLE": lostBlocks.insert("styles")
    case "REGION": lostBlocks.insert("regions")
    // Comments are not shown. The header is the block before the first cue.
    case "NOTE", "WEBVTT": break
    default: strayLines += block.filter { !$0.isBlank && (isWeb || !$0.trimmed.allSatisfy(\.isDigit)) }.count
    }
  }

  /// Warnings about parts of the file that the cues lack: stray lines, settings, tags, styles and
  /// regions.
  var warnings: [Warning] {
    var found: [Warning] = []
    if strayLines > 0 {
      let lines = counted(strayLines, "line")
      found.append(
        Warning(.detailLeftOut, "left out: \(lines) of the subtitle file outside its subtitles", count: strayLines))
    }
    if cuesWithSettings > 0 {
      found.append(
        Warning(
          .detailLeftOut, "left out: the settings of \(counted(cuesWithSettings, "subtitle")), such as the position",
          count: cuesWithSettings))
    }
    if cuesWithLostMarks > 0 {
      let marks = lostMarks.sorted().joined(separator: ", ")
      found.append(
        Warning(
          .detailLeftOut, "left out: WebVTT tags in \(counted(cuesWithLostMarks, "subtitle")): \(marks)",
          count: cuesWithLostMarks))
    }
    for block in lostBlocks.sorted() {
      found.append(Warning(.detailLeftOut, "left out: the \(block) of the WebVTT file", count: 1))
    }
    return found
  }
}

/// Timing line of a cue: `00:00:01,000 --> 00:00:02,000`, and settings after the times.
private struct CueTiming {
  var span: TimeSpan
  var hasSettings: Bool

  init?(_ line: ArraySlice<UInt8>) {
    var rest = line.trimmed
    guard rest.first?.isDigit == true, let start = CueTiming.time(&rest) else { return nil }
    rest = rest.trimmed
    guard rest.starts(with: "-->".utf8) else { return nil }
    rest = rest.dropFirst(3).trimmed
    guard let end = CueTiming.time(&rest), rest.first?.isBlank != false else { return nil }
    span = TimeSpan(start: start, end: max(start, end))
    hasSettings = !rest.isEmpty
  }

  /// Takes a time such as `01:02:03,456` or `02:03.456` from the start of `text`.
  private static func time(_ text: inout ArraySlice<UInt8>) -> ClockTime? {
    var seconds = 0
    for field in 0..<3 {
      // Six digits cannot overflow.
      let digits = text.prefix(while: \.isDigit)
      guard (1...6).contains(digits.count) else { return nil }
      seconds = seconds * 60 + digits.value
      text = text.dropFirst(digits.count)
      guard text.first == UInt8(ascii: ":") else {
        guard field > 0 else { return nil }
        break
      }
      guard field < 2 else { return nil }
      text = text.dropFirst()
    }
    return ClockTime(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(milliseconds(&text)) * 1_000_000)
  }

  /// Takes a decimal fraction of a second from the start of `text`, and returns it in milliseconds.
  /// Spaces before the digits count as zeros.
  private static func milliseconds(_ text: inout ArraySlice<UInt8>) -> Int {
    guard let first = text.first, ",.".utf8.contains(first) else { return 0 }
    text = text.dropFirst()
    let blanks = text.prefix(while: \.isBlank).count
    let digits = text.dropFirst(blanks).prefix(while: \.isDigit)
    guard !digits.isEmpty else { return 0 }
    text = text.dropFirst(blanks + digits.count)
    let zero = UInt8(ascii: "0")
    let all = Array(repeating: zero, count: min(blanks, 3)) + digits.prefix(3) + [zero, zero]
    return all[..<3].value
  }
}

extension UInt8 {
  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  /// True for white space within a line.
  fileprivate var isBlank: Bool { " \t\r".utf8.contains(self) }
}

extension ArraySlice<UInt8> {
  fileprivate var isBlank: Bool { allSatisfy(\.isBlank) }
  fileprivate var trimmed: ArraySlice<UInt8> {
    var text = drop(while: \.isBlank)
    while text.last?.isBlank == true { text.removeLast() }
    return text
  }
  /// Value of decimal digits.
  fileprivate var value: Int { reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } }
}

extension [ArraySlice<UInt8>] {
  fileprivate var trimmingBlankLines: ArraySlice<ArraySlice<UInt8>> {
    var lines = drop(while: \.isBlank)
    while lines.last?.isBlank == true { lines.removeLast() }
    return lines
  }
}
