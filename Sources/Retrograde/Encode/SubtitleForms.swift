import GStreamer
import RetrogradeEngine

extension SubtitleTrack {
  /// Converts the track to a format that `container` can hold; nil if there is no such format.
  func form(for container: Container) -> SubtitleTrack? {
    let accepted = container.subtitles.compactMap { Caps($0) }
    guard let text = Caps("text/x-raw,format=utf8") else { return nil }
    if isText, accepted.contains(where: { $0.intersects(text) }) {
      // Matroska may store markup such as italics, but `qtmux` writes plain text (`hasEditLists`
      // means MP4 and MOV).
      return container.hasEditLists
        ? mapped(text) { SubtitleText.plain($0.text) }.apart : mapped(text) { SubtitleText.marked($0.text) }
    }
    // A subtitle format has the same packets in every Matroska file, so no conversion is needed.
    if accepted.contains(where: { $0.intersects(caps) }) { return self }
    if isScript, accepted.contains(where: { $0.intersects(text) }) {
      let lines = mapped(text) { SubtitleText.plain(SubtitleText.line($0.text)) }
      return container.hasEditLists ? lines.apart : lines
    }
    return nil
  }

  /// Copy of the track without overlapping cues, as MP4 requires; nil if more than ``mostAtOnce``
  /// cues overlap. Texts of overlapping cues are joined, one below the other.
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

  /// Largest number of overlapping cues; a frame has no room for more lines of text.
  private static let mostAtOnce = 100

  /// Returns the cues as text with markup, for a separate subtitle file; nil if the track has no
  /// text.
  /// - Parameter isWeb: true for WebVTT markup, false for SubRip markup.
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

  /// Renumbers the lines of a script (SSA/ASS), because players ignore a line whose number has
  /// occurred before. Returns the cues of other formats unchanged. `cues` must be in the order of
  /// play.
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

/// Conversions of subtitle text. The conversions use no regular expressions: each expression would
/// take 50 µs per cue, and a file may have 100,000 cues.
enum SubtitleText {
  /// Converts Pango markup, which GStreamer uses, to SubRip markup: removes `span` tags, and
  /// replaces entities with characters.
  static func marked(_ text: String) -> String { unescaped(kept(text) { $0.tag != "span" }) }

  /// Removes all markup, including SubRip markup that GStreamer leaves in the text: `font` tags,
  /// and positions in braces.
  static func plain(_ text: String) -> String {
    kept(marked(kept(text) { $0.isPosition })) { !$0.isForeign && !$0.isStyle }
  }

  /// Converts SubRip's text to WebVTT (W3C, "WebVTT", 3.4). Bold, italics and underline stay;
  /// fonts, strikethrough and positions are removed; the remaining text is escaped.
  static func web(_ text: String) -> String {
    var result = ""
    for (text, mark) in pieces(of: text) where mark?.isForeign != true {
      result += mark?.isStyle == true ? text.lowercased() : escaped(text)
    }
    return result
  }

  /// Converts SubRip text to Pango markup that keeps SubRip's tags.
  static func markup(ofSubRip text: String) -> String {
    var result = ""
    for (text, mark) in pieces(of: text) { result += mark?.isSubRip == true ? String(text) : escaped(text) }
    return result
  }

  /// Converts WebVTT text (W3C, "WebVTT", 6.4) to Pango markup. Bold, italics and underline stay.
  /// - Parameter lost: receives the kinds of tags that are lost, such as `voices`.
  static func markup(ofWeb text: String, without lost: inout Set<String>) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")) {
      result += escaped(unescaped(String(rest[..<start]), webEntities)[...])
      let first = rest.utf8.index(after: start)
      guard let end = rest.utf8[first...].firstIndex(where: { "<>".utf8.contains($0) }),
        rest.utf8[end] == UInt8(ascii: ">"), let tag = WebTag(rest[first..<end])
      else {
        result += "&lt;"
        rest = rest[first...]
        continue
      }
      if let kind = tag.lostKind { lost.insert(kind) }
      result += tag.markup
      rest = rest[rest.utf8.index(after: end)...]
    }
    return result + escaped(unescaped(String(rest), webEntities)[...])
  }

  /// Tag of WebVTT, without its angle brackets, such as `v Bob`, `/c`, `i.quiet` or `00:01.000`.
  private struct WebTag {
    private let name: String
    private let isClosing: Bool
    private let hasClass: Bool
    private let isTime: Bool

    /// - Returns: nil if `text` is not a tag, as in `1 <2>`.
    init?(_ text: Substring) {
      isClosing = text.hasPrefix("/")
      let tag = text.drop { $0 == "/" }.prefix { !$0.isWhitespace }
      isTime = tag.contains(":") && tag.utf8.allSatisfy { "0123456789:.".utf8.contains($0) }
      name = tag.prefix { $0 != "." }.lowercased()
      hasClass = tag.contains(".")
      guard isTime || isClosing || tag.first?.isLetter == true else { return nil }
    }

    private var isStyle: Bool { ["b", "i", "u"].contains(name) }
    var markup: String { isStyle ? "<\(isClosing ? "/" : "")\(name)>" : "" }

    /// Kind of the mark, for a warning; nil if nothing is lost with this tag.
    var lostKind: String? {
      if isTime { return "times of words" }
      if isClosing { return nil }
      if isStyle || name == "c" { return hasClass ? "classes" : nil }
      return ["v": "voices", "lang": "languages", "ruby": "ruby", "rt": "ruby"][name] ?? "unknown tags"
    }
  }

  /// Tag, such as `<b>` or `</font>`, or position in braces, such as `{\an8}`.
  private struct Mark {
    var text: Substring
    var isPosition: Bool { text.utf8.first == UInt8(ascii: "{") }

    /// Name of a tag; empty for a position.
    var tag: Substring {
      text.drop { "</".contains($0) }.prefix { !">{".contains($0) && !$0.isWhitespace }
    }

    /// True for SubRip markup without an equivalent in WebVTT: `font` tags, strikethrough,
    /// positions.
    var isForeign: Bool { isPosition || ["s", "font"].contains(tag.lowercased()) }
    /// True for a tag of SubRip.
    var isSubRip: Bool { !isPosition && (isForeign || isStyle) }
    /// True for bold, italics and underline.
    var isStyle: Bool { ["<b>", "<i>", "<u>", "</b>", "</i>", "</u>"].contains(text.lowercased()) }
  }

  /// Returns `text` with only the marks for which `isKept` is true.
  private static func kept(_ text: String, where isKept: (Mark) -> Bool) -> String {
    var result = ""
    for (text, mark) in pieces(of: text) where mark.map(isKept) ?? true { result += text }
    return result
  }

  /// Splits text before and after each mark.
  private static func pieces(of text: String) -> [(text: Substring, mark: Mark?)] {
    var pieces: [(text: Substring, mark: Mark?)] = []
    var (start, place) = (text.startIndex, text.startIndex)
    while let opening = text.utf8[place...].firstIndex(where: { "<{".utf8.contains($0) }) {
      place = text.utf8.index(after: opening)
      guard let end = endOfMark(text.utf8[opening...]) else { continue }
      if start < opening { pieces.append((text[start..<opening], nil)) }
      pieces.append((text[opening..<end], Mark(text: text[opening..<end])))
      (start, place) = (end, end)
    }
    if start < text.endIndex { pieces.append((text[start...], nil)) }
    return pieces
  }

  /// Returns the end of the mark at the start of `text`; nil if there is none.
  private static func endOfMark(_ text: Substring.UTF8View) -> String.Index? {
    let isTag = text.first == UInt8(ascii: "<")
    var rest = text.dropFirst()
    if isTag, rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
    guard let first = rest.first,
      isTag ? (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first | 0x20) : first == UInt8(ascii: "\\"),
      let end = rest.firstIndex(where: { (isTag ? "<>" : "{}").utf8.contains($0) }),
      text[end] == UInt8(ascii: isTag ? ">" : "}")
    else { return nil }
    return text.index(after: end)
  }

  private static let entities = [
    ("lt;", "<"), ("gt;", ">"), ("quot;", "\""), ("#39;", "'"), ("apos;", "'"), ("amp;", "&"),
  ]

  private static let webEntities =
    entities + [("nbsp;", "\u{A0}"), ("lrm;", "\u{200E}"), ("rlm;", "\u{200F}")]

  private static func unescaped(_ text: String, _ entities: [(String, String)] = SubtitleText.entities) -> String {
    let parts = text.split(separator: "&", omittingEmptySubsequences: false)
    var result = String(parts[0])
    for part in parts.dropFirst() {
      let entity = entities.first { part.hasPrefix($0.0) }
      result += entity.map { $0.1 + part.dropFirst($0.0.count) } ?? "&" + part
    }
    return result
  }

  private static func escaped(_ text: Substring) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns the displayed text of a line of an SSA or ASS script. In Matroska packets, eight
  /// comma-separated fields precede the text (Matroska codec mappings, S_TEXT/ASS).
  static func line(_ packet: String) -> String {
    let fields = packet.split(separator: ",", maxSplits: 8, omittingEmptySubsequences: false)
    guard let last = fields.count == 9 ? fields.last : nil else { return packet }
    let text = withoutOverrides(last)
    guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
    return text.replacing("\\N", with: "\n").replacing("\\n", with: "\n").replacing("\\h", with: " ")
  }

  /// Removes the override codes of SSA and ASS, such as `{\i1}`, in a single pass.
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
