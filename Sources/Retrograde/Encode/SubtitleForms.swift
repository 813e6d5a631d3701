import GStreamer
import RetrogradeEngine

extension SubtitleTrack {
  /// Returns the track in a form that `container` takes; nil if there is none.
  func form(for container: Container) -> SubtitleTrack? {
    let accepted = container.subtitles.compactMap { Caps($0) }
    guard let text = Caps("text/x-raw,format=utf8") else { return nil }
    if isText, accepted.contains(where: { $0.intersects(text) }) {
      // Text in Matroska has marks for italics and the like; in MP4, as qtmux writes it, it has
      // none.
      return container.hasEditLists
        ? mapped(text) { SubtitleText.plain($0.text) }.apart : mapped(text) { SubtitleText.marked($0.text) }
    }
    // Packets have the same content in any Matroska file.
    if accepted.contains(where: { $0.intersects(caps) }) { return self }
    if isScript, accepted.contains(where: { $0.intersects(text) }) {
      let lines = mapped(text) { SubtitleText.plain(SubtitleText.line($0.text)) }
      return container.hasEditLists ? lines.apart : lines
    }
    return nil
  }

  /// The track without overlapping cues, as MP4 requires: while cues overlap, their texts are shown
  /// below each other. nil if more than ``mostAtOnce`` overlap.
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

  /// Largest number of cues at a time; a frame has no room for more lines.
  private static let mostAtOnce = 100

  /// Returns the track as text with marks, for a separate file; nil if it is no text.
  /// - Parameter isWeb: true for WebVTT's marks, false for SubRip's.
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

  /// Returns cues in the order of play, with the line numbers of a script renewed: players ignore
  /// lines with equal numbers.
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

/// Conversions of subtitle text.
enum SubtitleText {
  /// Converts GStreamer's (Pango's) markup to SubRip's: the same tags, without entities.
  static func marked(_ text: String) -> String {
    text.replacing(/<span[^<>]*>|<\/span>/, with: "").replacing("&lt;", with: "<").replacing("&gt;", with: ">")
      .replacing("&quot;", with: "\"").replacing("&#39;", with: "'").replacing("&apos;", with: "'")
      .replacing("&amp;", with: "&")
  }

  /// Removes all marks, including SubRip's that GStreamer passes on as text: fonts, and positions
  /// in braces.
  static func plain(_ text: String) -> String {
    marked(text.replacing(/<\/?[a-zA-Z][^<>]*>/, with: ""))
      .replacing(foreignMarks, with: "").replacing(/<\/?[biu]>/.ignoresCase(), with: "")
  }

  /// Converts SubRip's text to WebVTT (W3C, "WebVTT", 3.4). Marks for bold, italics and underline
  /// stay; other marks are removed, and the text is escaped.
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

  /// Marks for fonts and strikethrough, and positions in braces.
  private static var foreignMarks: Regex<Substring> { /<\/?(?:s|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}/.ignoresCase() }

  /// Returns the displayed text of a script's line. In a packet eight fields precede it (Matroska's
  /// codec mappings, S_TEXT/ASS).
  static func line(_ packet: String) -> String {
    let fields = packet.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
    guard let last = fields.count == 9 ? fields.last : nil else { return packet }
    return withoutOverrides(last).replacing("\\N", with: "\n").replacing("\\n", with: "\n")
      .replacing("\\h", with: " ")
  }

  /// Removes the parts in braces, in a single pass.
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
