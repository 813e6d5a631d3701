import GStreamer
import RetrogradeEngine

extension SubtitleTrack {
  /// The track as `container` takes it; nil if it takes none of its kind.
  func form(for container: Container) -> SubtitleTrack? {
    let accepted = container.subtitles.compactMap { Caps($0) }
    guard let text = Caps("text/x-raw,format=utf8") else { return nil }
    if isText, accepted.contains(where: { $0.intersects(text) }) {
      // Matroska's text has marks for italics and the like in it; MP4's, as qtmux writes it, has none.
      return container.hasEditLists
        ? mapped(text) { SubtitleText.plain($0.text) }.apart : mapped(text) { SubtitleText.marked($0.text) }
    }
    // The packets' content is the same in any Matroska file.
    if accepted.contains(where: { $0.intersects(caps) }) { return self }
    if isScript, accepted.contains(where: { $0.intersects(text) }) {
      let lines = mapped(text) { SubtitleText.plain(SubtitleText.line($0.text)) }
      return container.hasEditLists ? lines.apart : lines
    }
    return nil
  }

  /// The track with one cue at a time, as a track of MP4 has its samples one after the other: while cues overlap, their
  /// texts stand below each other. nil where more than ``mostAtOnce`` overlap.
  private var apart: SubtitleTrack? {
    var track = self
    track.cues = []
    var shown: [Cue] = []
    var since = ClockTime.zero
    func show(until time: ClockTime) {
      if since < time, !shown.isEmpty {
        let text = shown.map(\.text).joined(separator: "\n")
        track.cues.append(Cue(span: TimeSpan(start: since, end: time), bytes: Array(text.utf8)))
      }
      since = max(since, time)
      shown.removeAll { $0.span.end <= time }
    }
    for cue in cues {
      while let end = shown.map(\.span.end).min(), end <= cue.span.start { show(until: end) }
      show(until: cue.span.start)
      shown.append(cue)
      if shown.count > SubtitleTrack.mostAtOnce { return nil }
    }
    while let end = shown.map(\.span.end).min() { show(until: end) }
    return track
  }

  /// A picture has no room for more lines.
  private static let mostAtOnce = 100

  /// The track as plain text with marks, for a file of its own; nil if it is no text.
  /// - Parameter isWeb: the marks are WebVTT's, and not SubRip's.
  func texts(isWeb: Bool) -> [(span: TimeSpan, text: String)]? {
    guard isText || isScript else { return nil }
    return cues.map { cue in
      let text = isText ? SubtitleText.marked(cue.text) : SubtitleText.line(cue.text)
      return (cue.span, isWeb ? SubtitleText.web(text) : text)
    }
  }

  private func mapped(_ caps: Caps, _ change: (Cue) -> String) -> SubtitleTrack {
    SubtitleTrack(
      caps: caps, tags: tags, disposition: disposition,
      cues: cues.map { Cue(span: $0.span, bytes: Array(change($0).utf8)) }.filter { !$0.bytes.isEmpty })
  }

  /// Cues in the order of play, numbered as a script's lines are: players take two of one number for one.
  func renumbered(_ cues: [Cue]) -> [Cue] {
    guard isScript else { return cues }
    return cues.enumerated().map { number, cue in
      guard let comma = cue.bytes.firstIndex(of: UInt8(ascii: ",")) else { return cue }
      return Cue(span: cue.span, bytes: Array("\(number)".utf8) + cue.bytes[comma...])
    }
  }
}

extension Cue {
  fileprivate var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
}

/// Text of subtitles, from one form to another.
enum SubtitleText {
  /// GStreamer's (Pango's) marks, as SubRip has them: the same tags, without entities.
  static func marked(_ text: String) -> String {
    text.replacing(/<span[^<>]*>|<\/span>/, with: "").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&apos;", with: "'")
      .replacing("&amp;", with: "&")
  }

  /// The text without any marks, also those of SubRip that GStreamer gives out as if they were text: fonts,
  /// and places in braces.
  static func plain(_ text: String) -> String {
    marked(text.replacing(/<\/?[a-zA-Z][^<>]*>/, with: ""))
      .replacing(foreignMarks, with: "").replacing(/<\/?[biu]>/.ignoresCase(), with: "")
  }

  /// SubRip's text as WebVTT has it (W3C, "WebVTT", 3.4): bold, italics and underlines are marks there too;
  /// other marks go, and any other text is escaped.
  static func web(_ text: String) -> String {
    var kept = ""
    var rest = text.replacing(foreignMarks, with: "").replacing("&", with: "&amp;")[...]
    while let mark = rest.firstMatch(of: /<\/?[biu]>/.ignoresCase()) {
      kept += escaped(rest[..<mark.range.lowerBound]) + rest[mark.range].lowercased()
      rest = rest[mark.range.upperBound...]
    }
    return kept + escaped(rest)
  }

  private static func escaped(_ text: Substring) -> String {
    String(text).replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// Fonts and struck text, and places in braces.
  private static var foreignMarks: Regex<Substring> { /<\/?(?:s|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}/.ignoresCase() }

  /// Shown text of a script's line, which has eight fields before it in a packet (Matroska's codec mappings,
  /// S_TEXT/ASS).
  static func line(_ packet: String) -> String {
    let fields = packet.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
    guard let last = fields.count == 9 ? fields.last : nil else { return packet }
    return withoutOverrides(last).replacing("\\N", with: "\n").replacing("\\n", with: "\n")
      .replacing("\\h", with: " ")
  }

  /// The text without the parts in braces, found in a single pass.
  private static func withoutOverrides(_ text: Substring) -> String {
    var kept = ""
    var rest = text
    while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
      kept += rest[..<start]
      rest = rest[rest.index(after: end)...]
    }
    return kept + rest
  }
}
