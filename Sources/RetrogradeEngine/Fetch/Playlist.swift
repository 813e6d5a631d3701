import Containers
import GStreamer
import Glibc
import Paths

/// File that names media files instead of containing media.
struct Playlist {
  enum Kind: Sendable {
    /// HTTP Live Streaming (RFC 8216).
    case hls
    /// MPEG-DASH (ISO/IEC 23009-1).
    case dash

    /// GStreamer element that reads the files named in the playlist.
    var demuxer: String { self == .hls ? "hlsdemux" : "dashdemux" }
  }

  let kind: Kind
  let text: String

  /// - Parameter bytes: contents of a file, or the file's first bytes.
  /// - Returns: nil if the bytes are not a playlist.
  init?(_ bytes: [UInt8]) {
    let all = String(pathBytes: bytes)
    let beginning = all.drop { $0 == "\u{FEFF}" || $0.isWhitespace }
    // Signatures: RFC 8216, 4.3.1.1; ISO/IEC 23009-1, 5.3.1.2.
    if beginning.utf8.starts(with: "#EXTM3U".utf8) {
      (kind, text) = (.hls, all)
    } else if beginning.hasPrefix("<") && all.contains("<MPD") {
      // Remove comments first, because a file name can contain a comment.
      (kind, text) = (.dash, Playlist.removingComments(all))
    } else {
      return nil
    }
  }

  /// Returns `text` without its XML comments. A comment that has no end is kept.
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

  /// True if the playlist declares that more media segments will follow.
  var isLive: Bool {
    switch kind {
    case .hls: !names.isEmpty && text.contains("#EXTINF") && !text.contains("#EXT-X-ENDLIST")
    case .dash: text.contains(/type\s*=\s*["']dynamic["']/)
    }
  }

  /// Names of files and further playlists in the playlist.
  ///
  /// The search compares Unicode scalars, like GStreamer. It does not compare Swift `Character`
  /// values, because a quote and a following combining mark form one `Character` that is not a
  /// quote.
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
        // Skip lines without a URI, because the regular expression takes 30 µs a line, and a
        // playlist may have a million lines.
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
    // Attributes may contain `>` in quotes, but never `<`. A `<` therefore ends the match, so no
    // text is searched twice.
    let element = /<(?:[^\s<>\/:]+:)?(?:BaseURL|Location)(?:\s(?:[^<>"']|"[^<"]*"|'[^<']*')*)?>([^<]*)</
      .matchingSemantics(.unicodeScalar)
    // Templates name files by the identifier of a representation (`$RepresentationID$`).
    let identifier = /\sid\s*=\s*(?:"([^"]*)"|'([^']*)')/.matchingSemantics(.unicodeScalar)
    let attributes = text.matches(of: attribute).map { String($0.1 ?? $0.2 ?? "") }
    let elements = text.matches(of: element).map { String($0.1).trimmed }
    let identifiers = text.matches(of: identifier).map { String($0.1 ?? $0.2 ?? "") }
    let paths = identifiers.filter { $0.utf8.contains { "/&%".utf8.contains($0) } }
    // In a template, an identifier that is empty or consists of dots can form "/" or ".." together
    // with the text around it. In this case, add "..", which is refused.
    let isHidden = identifiers.contains { $0.utf8.allSatisfy { $0 == UInt8(ascii: ".") } }
    return attributes + elements + paths + (isHidden ? [".."] : [])
  }

  /// Checks that a playlist file names only files in its own folder or subfolders.
  ///
  /// A user who opens a playlist does not expect it to read other local files or to contact a
  /// server.
  ///
  /// - Parameter path: path of the playlist.
  /// - Throws: ``RetrogradeError`` of code `damagedInput` if the playlist names anything else,
  ///   leads back to itself, or has text that can't be checked; `noInput` if a named file can't be
  ///   read.
  func checkNames(in path: String) throws {
    var checked: Set<String> = []
    try checkNames(in: path, from: [realPath(path) ?? path], &checked)
  }

  /// Checks this playlist, and the playlists that it names.
  /// - Parameters:
  ///   - chain: paths of the playlists from the first one to this one.
  ///   - checked: paths that are already checked.
  private func checkNames(in path: String, from chain: [String], _ checked: inout Set<String>) throws {
    // Entities and CDATA sections can hide names from the search.
    let hiding = /<!(?:DOCTYPE|ENTITY|\[CDATA\[)/.matchingSemantics(.unicodeScalar)
    if kind == .dash, let declaration = text.firstMatch(of: hiding) {
      throw RetrogradeError(
        .damagedInput, about: path,
        "is a manifest with \(String(declaration.0)), which is not allowed in a local manifest",
        remedy: "use the URL of the manifest as the input, if it has one")
    }
    // HLS playlists must be UTF-8 (RFC 8216, 4.1), and hlsdemux accepts no other encoding.
    guard kind == .dash || !text.hasRawBytes else {
      throw RetrogradeError(
        .damagedInput, about: path, "is an HLS playlist, which must be UTF-8, but has another encoding",
        remedy: "save the playlist as UTF-8; in file names, write each byte that is not UTF-8 as a percent code such "
          + "as %E9")
    }
    for name in names {
      let decoded = Address.decoded(name[...]) ?? name
      guard Playlist.isBeside(decoded), kind == .hls || Playlist.isPlain(name) else {
        throw RetrogradeError(
          .damagedInput, about: path, "is a playlist that refers to a file or URL outside its own folder: \(name)",
          remedy: "use the URL of the playlist as the input, if it has one, or convert it to one file first: "
            + "ffmpeg -i \(Shell.quoted(path)) -c copy video.mkv")
      }
      let beside = "\(path.folderPath)/\(decoded)"
      // For DASH, the name may be a template, so a file with this name need not exist.
      guard kind == .dash || access(beside.cPath, R_OK) == 0 else {
        throw RetrogradeError(
          .noInput, about: path,
          "is a playlist that refers to \(name), which can't be read: \(String(cString: strerror(errno)))")
      }
      // Opening a named pipe would wait for a writer.
      var info = stat()
      guard stat(beside.cPath, &info) != 0 || [S_IFREG, S_IFDIR].contains(info.st_mode & S_IFMT) else {
        throw RetrogradeError(
          .noInput, about: path,
          "is a playlist that refers to \(name), which is neither a file nor a folder")
      }
      let real = realPath(beside) ?? beside
      guard !chain.contains(real), chain.count < 5 else {
        throw RetrogradeError(
          .damagedInput, about: path,
          "is a playlist that refers to itself, or to playlists that are nested too deeply: \(name)",
          remedy: "use the playlist that lists the media files as the input")
      }
      guard checked.insert(real).inserted else { continue }
      // hlsdemux recognises playlists by their contents, so check each file whatever its name is.
      guard kind == .hls, let next = try Playlist(path: beside) else { continue }
      try next.checkNames(in: beside, from: chain + [real], &checked)
    }
    try checkRanges(in: path)
  }

  /// Checks that the byte ranges of an HLS playlist (RFC 8216, 4.3.2.2 and 4.3.2.5) are within the
  /// files to which they refer. hlsdemux reads the whole file if it can't parse a range, and skips
  /// a media segment outside its file if other segments follow.
  private func checkRanges(in path: String) throws {
    guard kind == .hls, text.utf8.firstRange(of: "BYTERANGE".utf8) != nil else { return }
    var range: String?
    // A range without an offset begins where the previous range ends.
    var end = 0
    for line in text.split(whereSeparator: \.isNewline).map({ String($0).trimmed }) {
      if line.hasPrefix("#EXT-X-BYTERANGE:") {
        range = String(line.dropFirst(17)).trimmed
      } else if line.hasPrefix("#EXT-X-MAP:") {
        guard let name = Playlist.value("URI", in: line), let range = Playlist.value("BYTERANGE", in: line) else {
          continue
        }
        _ = try Playlist.checkedEnd(of: range, after: 0, of: name, in: path)
      } else if !line.isEmpty, !line.hasPrefix("#"), let text = range {
        end = try Playlist.checkedEnd(of: text, after: end, of: line, in: path)
        range = nil
      }
    }
  }

  /// Returns the value of a tag's attribute, quoted or not, without the quotes; nil if the tag
  /// lacks the attribute.
  private static func value(_ attribute: String, in line: String) -> String? {
    guard let start = line.utf8.firstRange(of: "\(attribute)=".utf8)?.upperBound else { return nil }
    let rest = line[start...]
    return rest.hasPrefix("\"")
      ? String(rest.dropFirst().prefix { $0 != "\"" }) : String(rest.prefix { $0 != "," }).trimmed
  }

  /// Returns the end of a byte range, such as `188@376`, of the file `name`.
  /// - Parameter previous: start to use for a range without an offset.
  /// - Throws: ``RetrogradeError`` of code `damagedInput` if the range is invalid or not in the
  ///   file.
  private static func checkedEnd(
    of range: String, after previous: Int, of name: String, in path: String
  ) throws -> Int {
    let parts = range.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count <= 2, let length = Int(parts[0]), length > 0,
      let start = parts.count == 2 ? Int(parts[1]) : previous, start >= 0
    else { throw RetrogradeError(.damagedInput, about: path, "is a playlist with an invalid byte range: \(range)") }
    var info = stat()
    let beside = "\(path.folderPath)/\(Address.decoded(name[...]) ?? name)"
    let (end, isTooLarge) = start.addingReportingOverflow(length)
    guard stat(beside.cPath, &info) != 0 || !isTooLarge && end <= Int(info.st_size) else {
      throw RetrogradeError(
        .damagedInput, about: path,
        "is a playlist with the byte range \(range) of \(name), but that file has only \(Int(info.st_size)) bytes")
    }
    return end
  }

  /// True for a path in the playlist's own folder or a subfolder.
  ///
  /// The check compares bytes, not Swift `Character` values. A slash and a following combining mark
  /// form one `Character` that is not a slash, but the file system still treats the slash as a
  /// separator.
  private static func isBeside(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return !bytes.contains(UInt8(ascii: ":")) && bytes.first != UInt8(ascii: "/")
      && !bytes.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
  }

  /// True for an XML name without references such as `&#47;`, except `&amp;`. libxml2 would replace
  /// a reference after this check.
  private static func isPlain(_ name: String) -> Bool {
    !name.replacing("&amp;", with: "").utf8.contains(UInt8(ascii: "&"))
  }

  /// Reads the playlist from a file; nil if the file is not a playlist.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`, or `damagedInput` if the playlist is
  ///   longer than ``longest``.
  init?(path: String) throws {
    guard let file = RandomAccessFile(path), file.size > 0 else { return nil }
    guard Playlist(file.read(0..<min(file.size, 1024)) ?? []) != nil else { return nil }
    guard file.size <= Playlist.longest else {
      throw RetrogradeError(
        .damagedInput, about: path, "is a playlist of \(file.size) bytes; at most \(Playlist.longest) are allowed")
    }
    let bytes = file.read(0..<file.size)
    try file.checkReading(path)
    self.init(bytes ?? [])
  }

  /// Maximum size in bytes. A playlist with one-second media segments for a day needs half of this
  /// size.
  static let longest = 16 << 20

  /// Throws if a file is a playlist whose origin is unknown.
  /// - Parameters:
  ///   - bytes: first bytes of the file.
  ///   - name: name of the file in messages.
  /// - Throws: ``RetrogradeError`` of code `damagedInput` if `bytes` begin a playlist, because
  ///   names in a playlist cannot be resolved without its origin.
  static func refuse(_ bytes: [UInt8], name: String) throws {
    guard Playlist(bytes) != nil else { return }
    throw RetrogradeError(
      .damagedInput,
      about: name, "is a playlist, which contains no media, only the names of media files",
      remedy: "use the URL or path of the playlist as the input, instead of a pipe")
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}
