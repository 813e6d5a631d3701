/// Tracks of MP4 and MOV files.
enum MP4Track {
  /// Returns the tracks in order, without tracks of chapter names or images.
  /// - Parameter fileSize: size of the file in bytes.
  static func all(in index: MP4Index, fileSize: Int) -> [ContainerTrack] {
    let bytes = index.bytes
    let chapters = chapters(of: index)
    return index.tracks.compactMap { track -> ContainerTrack? in
      guard let header = bytes.box("tkhd", in: track), let identifier = identifier(in: header, of: bytes),
        !chapters.contains(identifier)
      else { return nil }
      let kind = kind(of: track, bytes)
      let table = bytes.box("mdia", "minf", "stbl", in: track)
      return ContainerTrack(
        kind: kind,
        disposition: Disposition(
          isDefault: isEnabled(header, of: bytes),
          isForced: table.map { MP4Details.isForced(track, table: $0, bytes) } ?? false),
        orientation: MP4Matrix(ofTrack: header, in: index)?.orientation, title: title(of: track, bytes),
        language: bytes.box("mdia", "mdhd", in: track).flatMap { language(in: $0, of: bytes) },
        pixelAspect: kind == .video ? table.flatMap { MP4Details.pixelAspect(ofTable: $0, bytes) } : nil,
        fieldOrder: kind == .video ? table.flatMap { MP4Details.fieldOrder(ofTable: $0, bytes) } : nil,
        isEdited: MP4Edit.all(in: track, of: bytes).count { $0.start != nil } > 1,
        loudspeakers: kind == .audio ? table.flatMap { MP4Details.loudspeakers(ofTable: $0, bytes)?.mask } : nil,
        sampleFormat: kind == .audio ? table.flatMap { MP4Details.sampleFormat(ofTable: $0, bytes) } : nil,
        preRoll: kind == .audio ? MP4PreRoll(track, in: index)?.length ?? .zero : .zero,
        stored: kind == .audio ? StoredAudio(track, in: index, fileSize: fileSize) : nil)
    }
  }

  /// Returns the name in a track's user data (not specified in ISO/IEC 14496-12; QuickTime File
  /// Format, "User Data Atoms"). If there is none, returns the name of the track's handler, unless
  /// that name contains one of ``programs``.
  private static func title(of track: Range<Int>, _ bytes: [UInt8]) -> String? {
    let own = bytes.box("udta", "name", in: track).map { bytes[$0] }
    let named = own ?? bytes.box("mdia", "hdlr", in: track).map { handlerName(bytes[$0]) }
    let text = String(decoding: named?.prefix { $0 != 0 } ?? [], as: UTF8.self)
    let isOfProgram = own == nil && programs.contains { text.lowercased().contains($0) }
    return text.isEmpty || isOfProgram ? nil : text
  }

  /// Returns the three-letter language of a track; nil if unknown.
  /// - Parameter header: body of an `mdhd` box, with three letters of five bits each (ISO/IEC
  ///   14496-12, 8.4.2), or a number below 0x400 (QuickTime File Format, "Macintosh Language
  ///   Codes").
  private static func language(in header: Range<Int>, of bytes: [UInt8]) -> String? {
    guard let version = bytes[header].first, case let place = header.lowerBound + (version == 1 ? 32 : 20),
      place + 2 <= header.upperBound
    else { return nil }
    let code = bytes.number(place..<place + 2)
    guard code >= 0x400 else { return macintoshLanguages.indices.contains(code) ? macintoshLanguages[code] : nil }
    let letters = [10, 5, 0].map { UInt8(code >> $0 & 31) + 0x60 }
    guard letters.allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
    let language = String(decoding: letters, as: UTF8.self)
    return language == "und" ? nil : language
  }

  private static let macintoshLanguages = [
    "eng", "fra", "deu", "ita", "nld", "swe", "spa", "dan", "por", "nor", "heb", "jpn", "ara", "fin", "ell", "isl",
    "mlt", "tur", "hrv", "zho", "urd", "hin", "tha", "kor", "lit", "pol", "hun", "est", "lav", "sme", "fao", "fas",
    "rus", "zho", "nld", "gle", "sqi", "ron", "ces", "slk", "slv", "yid", "srp", "mkd", "bul", "ukr", "bel", "uzb",
    "kaz",
  ]

  /// Returns the name in a handler. In QuickTime files, one byte for the length precedes the name.
  private static func handlerName(_ body: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let name = body.dropFirst(24)
    return name.first.map { Int($0) == name.count - 1 } ?? false ? name.dropFirst() : name
  }

  /// Substrings of the handler names that cameras, FFmpeg ("VideoHandler"), QuickTime ("Core Media
  /// Audio") and other programs use for all tracks.
  private static let programs = ["handle", "core media", "iso media", "gpac", "l-smash", "bento4", "mainconcept"]

  /// Returns the identifiers of tracks with chapter names or images.
  static func chapters(of index: MP4Index) -> Set<Int> {
    let bytes = index.bytes
    let lists = index.tracks.compactMap { bytes.box("tref", "chap", in: $0) }
    return Set(
      lists.flatMap { list in
        stride(from: list.lowerBound, through: list.upperBound - 4, by: 4).map { bytes.integer($0) }
      })
  }

  /// Returns the kind of a track, from its handler; `.other` if the handler is missing.
  /// - Parameter track: the body of a `trak` box.
  static func kind(of track: Range<Int>, _ bytes: [UInt8]) -> StreamKind {
    bytes.box("mdia", "hdlr", in: track).map { kind(ofHandler: $0, of: bytes) } ?? .other
  }

  /// Returns the identifier of a track (`track_ID`); nil if the track has no valid header.
  /// - Parameter track: the body of a `trak` box.
  static func identifier(of track: Range<Int>, _ bytes: [UInt8]) -> Int? {
    bytes.box("tkhd", in: track).flatMap { identifier(in: $0, of: bytes) }
  }

  /// Returns the kind of a track with this handler; `.other` if the handler type is unknown.
  /// - Parameter handler: the body of an `hdlr` box (ISO/IEC 14496-12, 8.4.3).
  static func kind(ofHandler handler: Range<Int>, of bytes: [UInt8]) -> StreamKind {
    guard handler.count >= 12 else { return .other }
    return switch bytes.text(handler.lowerBound + 8) {
    case "vide": .video
    case "soun": .audio
    case "text", "sbtl", "subt", "subp": .subtitles
    default: .other
    }
  }

  /// Returns the identifier of a track (`track_ID`) in its header; nil if the header is truncated.
  /// - Parameter header: body of a `tkhd` box.
  static func identifier(in header: Range<Int>, of bytes: [UInt8]) -> Int? {
    guard header.count >= 24 else { return nil }
    return bytes.integer(header.lowerBound + (bytes[header.lowerBound] == 1 ? 20 : 12))
  }

  private static func isEnabled(_ header: Range<Int>, of bytes: [UInt8]) -> Bool {
    bytes[header.lowerBound + 3] & 1 == 1
  }
}
