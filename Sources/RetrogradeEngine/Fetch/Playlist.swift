import Containers
import GStreamer
import Glibc
import Paths

/// File that refers to media instead of holding it.
struct Playlist {
  enum Kind: Sendable {
    /// HTTP Live Streaming (RFC 8216).
    case hls
    /// MPEG-DASH (ISO/IEC 23009-1).
    case dash

    /// GStreamer element that reads the files in the playlist.
    var demuxer: String { self == .hls ? "hlsdemux" : "dashdemux" }
  }

  let kind: Kind
  let text: String

  /// - Parameter bytes: contents or beginning of a file.
  /// - Returns: nil if the bytes are not a playlist.
  init?(_ bytes: [UInt8]) {
    let all = String(pathBytes: bytes)
    let beginning = all.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    // RFC 8216, 4.3.1.1; ISO/IEC 23009-1, 5.3.1.2.
    if beginning.utf8.starts(with: "#EXTM3U".utf8) {
      (kind, text) = (.hls, all)
    } else if beginning.hasPrefix("<") && all.contains("<MPD") {
      // A comment can be inside a name.
      (kind, text) = (.dash, Playlist.removingComments(all))
    } else {
      return nil
    }
  }

  /// - Returns: `text` without XML comments; an unterminated one stays.
  private static func removingComments(_ text: String) -> String {
    var rest = Substring(text).utf8
    var kept: [UInt8] = []
    while let start = rest.firstRange(of: "<!--".utf8),
      let end = rest[start.upperBound...].firstRange(of: "-->".utf8)
    {
      kept += rest[..<start.lowerBound]
      rest = rest[end.upperBound...]
    }
    return String(decoding: kept + rest, as: UTF8.self)
  }

  /// True if the playlist says that more segments will follow.
  var isLive: Bool {
    switch kind {
    case .hls: !names.isEmpty && text.contains("#EXTINF") && !text.contains("#EXT-X-ENDLIST")
    case .dash: text.contains(/type\s*=\s*["']dynamic["']/)
    }
  }

  /// Names of files and further playlists in the playlist.
  /// The search compares Unicode scalars. A quote with a combining mark is another `Character`, but
  /// GStreamer takes it for a quote.
  var names: [String] {
    switch kind {
    case .hls:
      // hlsdemux also accepts values without quotes or without a closing quote
      // (`parse_attributes`).
      let value = /URI=(?:"([^"]*)"|([^,]*))/.matchingSemantics(.unicodeScalar)
      return text.split(whereSeparator: \.isNewline).flatMap { line -> [String] in
        let line = String(line).trimmed
        if line.isEmpty { return [] }
        guard line.hasPrefix("#") else { return [line] }
        // The regular expression takes 30 µs a line, and a playlist may have a million lines.
        guard line.utf8.firstRange(of: "URI=".utf8) != nil else { return [] }
        return line.matches(of: value).map { String($0.1 ?? $0.2 ?? "") }
      }
    case .dash:
      return dashNames
    }
  }

  private var dashNames: [String] {
    let attribute = /(?:media|initialization|sourceURL|index|href)\s*=\s*(?:"([^"]*)"|'([^']*)')/
      .matchingSemantics(.unicodeScalar)
    // Attributes may hold `>` in quotes, but never `<`: it ends the element, so no text is read
    // twice.
    let element = /<(?:[^\s<>\/:]+:)?(?:BaseURL|Location)(?:\s(?:[^<>"']|"[^<"]*"|'[^<']*')*)?>([^<]*)</
      .matchingSemantics(.unicodeScalar)
    // Templates name files by the identifier of a representation (`$RepresentationID$`).
    let identifier = /\sid\s*=\s*(?:"([^"]*)"|'([^']*)')/.matchingSemantics(.unicodeScalar)
    let attributes = text.matches(of: attribute).map { String($0.1 ?? $0.2 ?? "") }
    let elements = text.matches(of: element).map { String($0.1).trimmed }
    let identifiers = text.matches(of: identifier).map { String($0.1 ?? $0.2 ?? "") }
    let paths = identifiers.filter { $0.utf8.contains { "/&%".utf8.contains($0) } }
    // An empty identifier, or dots, can form "/" or ".." with the text around it in a template.
    let isHidden = identifiers.contains { $0.utf8.allSatisfy { $0 == UInt8(ascii: ".") } }
    return attributes + elements + paths + (isHidden ? [".."] : [])
  }

  /// Checks that a playlist file names only files in its own folder or below.
  /// A user who opens a playlist does not expect it to read other local files or to contact a
  /// server.
  ///
  /// - Parameter path: path of the playlist.
  /// - Throws: ``RetrogradeError`` of code `damagedInput` if it names anything else, or leads back
  ///   to itself.
  func checkNames(in path: String) throws {
    var checked: Set<String> = []
    try checkNames(in: path, from: [realPath(path) ?? path], &checked)
  }

  /// - Parameters:
  ///   - chain: playlists that led here, including this one.
  ///   - checked: names that are already checked.
  private func checkNames(in path: String, from chain: [String], _ checked: inout Set<String>) throws {
    // Entities and CDATA hide names.
    let hiding = /<!(?:DOCTYPE|ENTITY|\[CDATA\[)/.matchingSemantics(.unicodeScalar)
    if kind == .dash, let declaration = text.firstMatch(of: hiding) {
      throw RetrogradeError(
        .damagedInput, about: path, "is a manifest with \(String(declaration.0)), which is not allowed in a file",
        remedy: "name the manifest by its address, if it has one")
    }
    // RFC 8216, 4.1. hlsdemux does not accept such a playlist.
    guard kind == .dash || !text.hasRawBytes else {
      throw RetrogradeError(
        .damagedInput, about: path, "the playlist is not UTF-8, which HLS requires",
        remedy: "save it as UTF-8, and percent-encode (%E9) bytes of file names that are not UTF-8")
    }
    for name in names {
      let decoded = Address.decoded(name[...]) ?? name
      guard Playlist.isBeside(decoded), kind == .hls || Playlist.isPlain(name) else {
        throw RetrogradeError(
          .damagedInput, about: path, "is a playlist that names something outside its own folder: \(name)",
          remedy: "name the playlist by its address, if it has one, or make one file of it first: "
            + "ffmpeg -i \(Shell.quoted(path)) -c copy video.mkv")
      }
      let beside = "\(path.folderPath)/\(decoded)"
      // DASH has templates instead of names.
      guard kind == .dash || access(beside.cPath, R_OK) == 0 else {
        throw RetrogradeError(
          .noInput, about: path,
          "is a playlist that names something unreadable: \(name): \(String(cString: strerror(errno)))")
      }
      // A named pipe would wait for a writer.
      var info = stat()
      guard stat(beside.cPath, &info) != 0 || [S_IFREG, S_IFDIR].contains(info.st_mode & S_IFMT) else {
        throw RetrogradeError(
          .noInput, about: path,
          "is a playlist that names something unreadable: \(name): it is neither a file nor a folder")
      }
      let real = realPath(beside) ?? beside
      guard !chain.contains(real), chain.count < 5 else {
        throw RetrogradeError(
          .damagedInput, about: path, "is a playlist that leads back to itself, or through too many others: \(name)",
          remedy: "name the playlist that names the media")
      }
      guard checked.insert(real).inserted else { continue }
      // hlsdemux takes any file with such a beginning for a playlist, whatever its name.
      guard kind == .hls, let next = try Playlist(path: beside) else { continue }
      try next.checkNames(in: beside, from: chain + [real], &checked)
    }
  }

  /// True for a path in the playlist's own folder or below.
  /// The check compares bytes. A slash with a combining mark is another `Character`, but the same
  /// separator.
  private static func isBeside(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return !bytes.contains(UInt8(ascii: ":")) && bytes.first != UInt8(ascii: "/")
      && !bytes.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
  }

  /// True for an XML name without references (`&#47;`), which libxml2 would replace after this
  /// check.
  private static func isPlain(_ name: String) -> Bool {
    !name.replacing("&amp;", with: "").utf8.contains(UInt8(ascii: "&"))
  }

  /// Reads the playlist in a file; nil if it is not a playlist.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`, or `damagedInput` if it is longer than
  ///   ``longest``.
  init?(path: String) throws {
    guard let file = RandomAccessFile(path), file.size > 0 else { return nil }
    guard Playlist(file.read(0..<min(file.size, 1024)) ?? []) != nil else { return nil }
    guard file.size <= Playlist.longest else {
      throw RetrogradeError(
        .damagedInput, about: path, "is a playlist of \(file.size) bytes; at most \(Playlist.longest) are read")
    }
    let bytes = file.read(0..<file.size)
    try file.checkReading(path)
    self.init(bytes ?? [])
  }

  /// Largest size in bytes. A day of one-second segments takes half of it.
  static let longest = 16 << 20

  /// - Throws: ``RetrogradeError`` of code `damagedInput` if `bytes` begin a playlist: names in it
  ///   cannot be resolved without its origin. Messages call the file `name`.
  static func refuse(_ bytes: [UInt8], name: String) throws {
    guard Playlist(bytes) != nil else { return }
    throw RetrogradeError(
      .damagedInput,
      about: name, "is a playlist: it holds no media, but names the files that do",
      remedy: "name it by its address or its path, not through a pipe")
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
