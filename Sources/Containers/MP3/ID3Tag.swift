/// ID3v2 tags before the first frame of an MP3 file, or in an AIFF chunk (ID3v2.4).
enum ID3Tag {
  /// Returns the offset of the first byte after the tags; 0 without tags.
  static func end(in file: RandomAccessFile) -> Int {
    var place = 0
    while let header = file.read(place..<place + 10), header.starts(with: "ID3".utf8) {
      place += 10 + safe(header[6..<10])
    }
    return place
  }

  /// Returns the size of the tag that begins with `header`; nil if `header` is not a tag header.
  static func size(_ header: [UInt8]) -> Int? {
    guard header.count >= 10, header.starts(with: "ID3".utf8) else { return nil }
    let (size, hasFooter) = (safe(header[6..<10]), header[5] & 0x10 != 0)
    return 10 + size + (hasFooter && size > 0 ? 10 : 0)
  }

  /// Contents that id3demux does not report, from the first tag.
  struct Unread {
    /// Number of chapters (`Quirk.id3demuxChapters`; "ID3v2 Chapter Frame Addendum").
    var chapterCount = 0
    var tags: [NamedTag] = []
    /// Three-letter language (ISO 639-2) of the audio.
    var language: String?
    /// ID3 frames that are not text, or whose text cannot be decoded.
    var details: [ContainerDetail] = []
  }

  /// Maximum size of a tag in bytes; a larger value is treated as damage.
  private static let largest = 1 << 26

  /// Reads those contents of the first tag that id3demux does not report.
  /// - Parameter start: offset of the first tag.
  static func unread(in file: RandomAccessFile, at start: Int) -> Unread {
    var found = Unread()
    guard let header = file.read(start..<start + 10), header.starts(with: "ID3".utf8), (3...4).contains(header[3])
    else {
      return found
    }
    let end = min(start + 10 + safe(header[6..<10]), file.size)
    guard end - start < largest, var bytes = file.read(start + 10..<end) else { return found }
    let isNewest = header[3] == 4
    if header[5] & 0x80 != 0, !isNewest { bytes = withoutStuffing(bytes[...]) }
    var place = 0
    if header[5] & 0x40 != 0, bytes.count > 4 {
      place = isNewest ? safe(bytes[0..<4]) : 4 + bytes.number(0..<4)
    }
    // An ID3 frame header has ten bytes: name, size and flags (ID3v2.4, 4). Names have four letters
    // since version 2.3.
    while place + 10 <= bytes.count, bytes[place] != 0 {
      let size = isNewest ? safe(bytes[place + 4..<place + 8]) : bytes.number(place + 4..<place + 8)
      let body = place + 10
      guard size <= bytes.count - body else { break }
      defer { place = body + size }
      let name = bytes.text(place)
      // Skip an ignored frame without copying its body, because an embedded picture may be large.
      if Unread.known.contains(name) { continue }
      let isStuffed = isNewest && (bytes[place + 9] & 2 != 0 || header[5] & 0x80 != 0)
      // A compressed or encrypted frame is not decoded.
      let isClosed = bytes[place + 9] & (isNewest ? 0x0C : 0xC0) != 0
      let text = isStuffed ? withoutStuffing(bytes[body..<body + size]) : Array(bytes[body..<body + size])
      found.add(name, isClosed ? nil : text)
    }
    return found
  }

  /// Removes the zero inserted after each 0xFF (unsynchronisation; ID3v2.4, 6.1).
  private static func withoutStuffing(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var last: UInt8 = 0
    return bytes.filter { byte in
      defer { last = byte }
      return !(last == 0xFF && byte == 0)
    }
  }

  /// Decodes a synchsafe integer, which has seven bits per byte (ID3v2.4, 6.2).
  private static func safe(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 7 | Int($1 & 0x7F) } }
}

extension ID3Tag.Unread {
  /// - Parameter body: body of the ID3 frame; nil if the frame is compressed or encrypted.
  fileprivate mutating func add(_ name: String, _ body: [UInt8]?) {
    switch name {
    case "CHAP": chapterCount += 1
    case "TXXX", "WXXX":
      guard let fields = body.flatMap({ ID3Tag.Unread.fields($0, from: 1) }), fields.count > 1 else {
        return addUnread(name)
      }
      let text = name == "TXXX" ? fields[1] : ID3Tag.Unread.link(in: body ?? []) ?? fields[1]
      if !ID3Tag.Unread.knownTexts.contains(fields[0].lowercased()) {
        tags.append(NamedTag(name: fields[0].isEmpty ? name : fields[0], text: text))
      }
    // GStreamer reads the MusicBrainz identifier, so it is not reported here.
    case "UFID" where body?.starts(with: "http://musicbrainz.org\0".utf8) ?? false: break
    case "USLT":
      guard let fields = body.flatMap({ ID3Tag.Unread.fields($0, from: 4) }), fields.count > 1 else {
        return addUnread(name)
      }
      tags.append(NamedTag(name: "LYRICS", text: fields[1]))
    case _ where name.hasPrefix("T"):
      guard let fields = body.flatMap({ ID3Tag.Unread.fields($0, from: 1) }) else { return addUnread(name) }
      // The code XXX means that the language is unknown (ID3v2.4, 4.10).
      if name == "TLAN", let only = fields.first?.lowercased(), fields.count == 1, only.utf8.count == 3, only != "xxx" {
        return language = only
      }
      for text in fields where !text.isEmpty {
        tags.append(NamedTag(name: ID3Tag.Unread.words[name] ?? name, text: text))
      }
    case _ where name.hasPrefix("W"):
      guard let body else { return addUnread(name) }
      tags.append(NamedTag(name: name, text: String(decoding: body.prefix { $0 != 0 }, as: UTF8.self)))
    default: addUnread(name)
    }
  }

  private mutating func addUnread(_ name: String) {
    details.append(ContainerDetail(file: "the frame \(name) of the ID3 tag"))
  }

  /// Decodes the texts of an ID3 frame from offset `start`; nil if their encoding is unknown. The
  /// first byte of the frame declares the encoding.
  private static func fields(_ body: [UInt8], from start: Int) -> [String]? {
    guard let encoding = body.first, body.count >= start else { return nil }
    let bytes = body.dropFirst(start)
    switch encoding {
    case 0:
      return bytes.split(separator: 0, omittingEmptySubsequences: false).map { text in
        String(String.UnicodeScalarView(text.map { Unicode.Scalar($0) }))
      }.withoutEnd
    case 3:
      return bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        .withoutEnd
    case 1, 2:
      var isLittleEndian = false
      var units: [[UInt16]] = [[]]
      for place in stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2) {
        let (first, second) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
        switch (first, second) {
        case (0xFF, 0xFE) where units[units.count - 1].isEmpty: isLittleEndian = true
        case (0xFE, 0xFF) where units[units.count - 1].isEmpty: isLittleEndian = false
        case (0, 0): units.append([])
        default: units[units.count - 1].append(isLittleEndian ? second << 8 | first : first << 8 | second)
        }
      }
      return units.map { String(decoding: $0, as: UTF16.self) }.withoutEnd
    default: return nil
    }
  }

  /// Returns the URL in a `WXXX` frame, which follows the description.
  private static func link(in body: [UInt8]) -> String? {
    body.split(separator: 0).last.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Names of ignored ID3 frames: those that GStreamer reads (`tag_matches` of gstid3tag.c,
  /// id3v2frames.c), tables of contents, and descriptions of the file structure.
  fileprivate static let known: Set = [
    "TIT2", "TALB", "TRCK", "TPE1", "TPE2", "TCOM", "TPE3", "TCOP", "WCOP", "TENC", "TCON", "TDRC", "COMM", "TPOS",
    "TLEN", "TSRC", "APIC", "TSSE", "TBPM", "TSOP", "TSOA", "TSOT", "TPUB", "TPE4", "TKEY", "PRIV", "RVA2",
    "TDAT",
    "TYER", "TIME", "CTOC", "SEEK", "ASPI", "MLLT", "TFLT", "TSIZ", "RVAD", "EQUA", "EQU2",
  ]

  /// Names of user-defined texts that GStreamer reads.
  private static let knownTexts: Set = [
    "musicbrainz_trackid", "musicbrainz_artistid", "musicbrainz_albumid", "musicbrainz_albumartistid",
    "musicbrainz_releasegroupid", "musicbrainz_trmid", "musicbrainz_discid", "musicbrainz release track id",
    "musicbrainz artist id", "musicbrainz album id", "musicbrainz album artist id", "musicbrainz release group id",
    "musicbrainz trm id", "acoustid id", "acoustid fingerprint", "musicbrainz discid", "replaygain_track_gain",
    "replaygain_track_peak", "replaygain_album_gain", "replaygain_album_peak", "discid", "cddb discid",
  ]

  /// Tag names in other containers, by name of the ID3 text frame.
  private static let words = [
    "TEXT": "LYRICIST", "TIT1": "GROUPING", "TIT3": "SUBTITLE", "TMOO": "MOOD", "TCMP": "COMPILATION",
    "TDOR": "ORIGINALDATE", "TOPE": "ORIGINALARTIST", "TSO2": "ALBUM_ARTIST_SORTNAME", "TSOC": "COMPOSER_SORTNAME",
  ]
}

extension [String] {
  /// Texts without the empty text that a final NUL adds at the end.
  fileprivate var withoutEnd: [String] { last?.isEmpty ?? false ? dropLast() : self }
}
