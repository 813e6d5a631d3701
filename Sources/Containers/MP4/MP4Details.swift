/// Details of MP4 and MOV files that no output can keep: tracks other than video, audio and
/// subtitles, and properties of tracks or of the file.
///
/// All boxes of a sample description are reported, except those in ``technical``, and `uuid` boxes
/// of unknown content.
enum MP4Details {
  static func all(in index: MP4Index) -> [ContainerDetail] {
    let bytes = index.bytes
    let chapters = MP4Track.chapters(of: index)
    return index.tracks.flatMap { track -> [ContainerDetail] in
      guard let handler = bytes.box("mdia", "hdlr", in: track), handler.count >= 12,
        let identifier = MP4Track.identifier(of: track, bytes), !chapters.contains(identifier),
        let table = bytes.box("mdia", "minf", "stbl", in: track),
        index.isFragmented || SampleTable(bytes, table).map({ $0.count > 0 }) ?? true
      else { return [] }
      let kind = MP4Track.kind(ofHandler: handler, of: bytes)
      let entries = entries(table, bytes)
      guard kind != .other else {
        let type = bytes.text(handler.lowerBound + 8)
        return exposed.contains(type) ? [] : [ContainerDetail(track: name(ofTrack: type, entries.first?.type))]
      }
      let boxes = entries.flatMap { details(ofEntry: $0, kind, bytes) }
      let matrix =
        kind == .video ? bytes.box("tkhd", in: track).flatMap { MP4Matrix(ofTrack: $0, in: index)?.detail } : nil
      let forced = entries.contains { forcing(of: $0, bytes) == .some } ? someAreForced : nil
      let others = [matrix, kind == .audio ? volume(of: track, bytes) : nil, forced].compactMap { $0 }
      let roles = roles(of: track, bytes).filter { !isForced(role: $0) }
        .map { "the role “\($0)” of a track (kind)" }
      let loudspeakers = loudspeakers(ofTable: table, bytes).flatMap { ContainerDetail($0, "chan") }
      return [loudspeakers].compactMap { $0 }
        + (boxes + roles + uuids(in: track, bytes) + speeds(of: track, bytes) + others).map {
          ContainerDetail($0, of: kind)
        }
    }
  }

  /// Handler types of tracks that qtdemux outputs as text.
  private static let exposed: Set = ["clcp", "wvtt"]

  private static let tracks = [
    "tmcd": "timecode", "hint": "RTP hints", "meta": "timed metadata", "sdsm": "MPEG-4 scene descriptions",
    "odsm": "MPEG-4 object descriptors", "auxv": "auxiliary video", "musi": "music", "sprt": "sprites",
  ]

  private static func name(ofTrack handler: String, _ entry: String?) -> String {
    let types = [handler, entry].compactMap { $0.map(trimmed) }
    let text = types.first == types.last ? types.prefix(1).joined() : types.joined(separator: ", ")
    return "\(tracks[handler] ?? "unsupported data") (\(text))"
  }

  private static func trimmed(_ type: String) -> String { type.split(separator: " ").joined(separator: " ") }

  static func entries(_ table: Range<Int>, _ bytes: [UInt8]) -> [Box] {
    guard let list = bytes.box("stsd", in: table), list.count > 8 else { return [] }
    return Box.all(in: bytes[list.lowerBound + 8..<list.upperBound])
  }

  /// Boxes of a sample description that need no report: boxes that a decoder reads, that any
  /// encoder or muxer writes anew, or that only describe the file layout.
  private static let technical: Set = [
    "avcC", "hvcC", "av1C", "vpcC", "vvcC", "esds", "d263", "jp2h", "jp2p", "jp2x", "glbl", "ARES", "APRG", "ACLR",
    "ADHR", "AVDH", "strf", "SMI ", "ftab", "fiel", "gama", "colr", "pasp", "clap", "btrt", "bitr", "chrm", "mdcv",
    "clli", "SmDm", "CoLL", "cclv", "sgbt", "ccst", "cicp", "FIEL", "free", "skip", "wide", "sinf", "txtC", "vttC",
    "vlab", "styl", "wave", "chan", "chnl", "dac3", "dec3", "dac4", "dOps", "dfLa", "alac", "damr", "dawp", "devc",
    "pcmC", "enda", "frma", "srat", "ddts", "udts", "udxd", "dmlp", "mhaC", "mhaP", "dqcp", "m4ds", "iacb",
  ]

  static let meanings = [
    "lhvC": "the second view of stereo video (lhvC)", "vexu": "the description of stereo video (vexu)",
    "hfov": "the field of view (hfov)", "st3d": "the stereo layout (st3d)", "sv3d": "the 360° projection (sv3d)",
    "dvcC": "Dolby Vision's configuration (dvcC)", "dvvC": "Dolby Vision's configuration (dvvC)",
    "dvwC": "Dolby Vision's configuration (dvwC)", "hvcE": "Dolby Vision's enhancement layer (hvcE)",
    "avcE": "Dolby Vision's enhancement layer (avcE)", "SA3D": "the ambisonic layout (SA3D)",
    "SAND": "the non-diegetic flag of the audio (SAND)", "amve": "the ambient light of the viewing environment (amve)",
  ]

  /// Reads the pixel aspect ratio in a track's sample description (`pasp`, ISO/IEC 14496-12,
  /// 12.1.4); nil if not declared, or not plausible.
  static func pixelAspect(ofTable table: Range<Int>, _ bytes: [UInt8]) -> (width: Int, height: Int)? {
    let shapes = entries(table, bytes).first.map { boxes(ofEntry: $0, .video, bytes) } ?? []
    guard let body = shapes.first(where: { $0.type == "pasp" })?.body, body.count >= 8 else { return nil }
    let (width, height) = (bytes.integer(body.lowerBound), bytes.integer(body.lowerBound + 4))
    let isPossible = (1...Int(Int32.max)).contains(width) && (1...Int(Int32.max)).contains(height)
    return isPossible ? (width, height) : nil
  }

  /// Reads the field order in a track's sample description, with the name used in caps; nil for
  /// progressive video, or if not declared (`fiel`; Apple's Technical Note TN2162).
  static func fieldOrder(ofTable table: Range<Int>, _ bytes: [UInt8]) -> String? {
    let all = entries(table, bytes).first.map { boxes(ofEntry: $0, .video, bytes) } ?? []
    guard let body = all.first(where: { $0.type == "fiel" })?.body, body.count >= 2, bytes[body.lowerBound] == 2 else {
      return nil
    }
    // Codes 1 and 6 mean separate fields, 9 and 14 interleaved lines.
    return [1: "top-field-first", 9: "top-field-first", 6: "bottom-field-first", 14: "bottom-field-first"][
      bytes[body.lowerBound + 1]]
  }

  /// Reads the speaker positions of PCM in a sample description (`chan`); nil if not declared.
  /// `mask` is nil if GStreamer lacks a position, or orders the positions differently.
  static func loudspeakers(ofTable table: Range<Int>, _ bytes: [UInt8]) -> (mask: UInt64?, channels: Int)? {
    guard let entry = entries(table, bytes).first, pcm.contains(entry.type),
      let layout = boxes(ofEntry: entry, .audio, bytes).first(where: { $0.type == "chan" })?.body, layout.count >= 16
    else { return nil }
    let start = entry.body.lowerBound
    let isThird = bytes.number(start + 8..<start + 10) == 2
    let channels = isThird ? bytes.integer(start + 40) : bytes.number(start + 16..<start + 18)
    return (ChannelLayout.mask(bytes[layout.dropFirst(4)]), channels)
  }

  /// Returns the GStreamer format of PCM whose byte order is in a separate box (`enda`, QuickTime
  /// File Format, "Endian Atom"); nil for other audio.
  static func sampleFormat(ofTable table: Range<Int>, _ bytes: [UInt8]) -> String? {
    guard let entry = entries(table, bytes).first,
      let name = ["in24": "S24", "in32": "S32", "fl32": "F32", "fl64": "F64"][entry.type]
    else { return nil }
    let outer = boxes(ofEntry: entry, .audio, bytes)
    let inner = outer.first { $0.type == "wave" }.map { Box.all(in: bytes[$0.body]) } ?? []
    guard let order = (outer + inner).first(where: { $0.type == "enda" })?.body, order.count >= 2 else { return nil }
    return name + (bytes.number(order.lowerBound..<order.lowerBound + 2) == 0 ? "BE" : "LE")
  }

  /// Sample description types of PCM (QuickTime File Format, "Sound Sample Descriptions").
  private static let pcm: Set = [
    "NONE", "raw ", "twos", "sowt", "in24", "in32", "fl32", "fl64", "lpcm",
  ]

  /// Returns the boxes that follow the fixed fields of a sample description.
  private static func boxes(ofEntry entry: Box, _ kind: StreamKind, _ bytes: [UInt8]) -> [Box] {
    let start = entry.body.lowerBound
    let fields: Int
    switch kind {
    case .video: fields = 78
    case .audio where entry.body.count >= 28:
      // Versions 1 and 2 of QuickTime's sound description have more fields.
      fields = [1: 44, 2: 64][bytes.number(start + 8..<start + 10)] ?? 28
    default: return []
    }
    guard entry.body.count > fields else { return [] }
    return Box.all(in: bytes[start + fields..<entry.body.upperBound])
  }

  private static func details(ofEntry entry: Box, _ kind: StreamKind, _ bytes: [UInt8]) -> [String] {
    let boxes = boxes(ofEntry: entry, kind, bytes)
    return boxes.flatMap { $0.type == "colr" ? colours($0.body, bytes) : [] }
      + boxes.compactMap { $0.type == "clap" ? crop($0.body, of: entry, bytes) : nil }
      + boxes.compactMap { box in
        guard !technical.contains(box.type), box.type.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
          return nil
        }
        if box.type == "uuid" { return isSpherical(box, bytes) ? spherical : nil }
        return meanings[box.type] ?? "the box \(trimmed(box.type)) of the \(kind.rawValue)'s description"
      }
  }

  /// Returns the colour labels in a `colr` box that GStreamer has no name for (ISO/IEC 14496-12,
  /// 12.1.5: `nclx`; QuickTime: `nclc`).
  private static func colours(_ body: Range<Int>, _ bytes: [UInt8]) -> [String] {
    guard body.count >= 10, ["nclx", "nclc"].contains(bytes.text(body.lowerBound)) else { return [] }
    func code(_ place: Int) -> Int { bytes.number(body.lowerBound + place..<body.lowerBound + place + 2) }
    return ColourCodes.unnamed(matrix: code(8), transfer: code(6))
  }

  /// Returns the detail for a crop of the frame (`clap`, ISO/IEC 14496-12, 12.1.4); nil if the
  /// whole frame is visible.
  private static func crop(_ body: Range<Int>, of entry: Box, _ bytes: [UInt8]) -> String? {
    guard body.count >= 16, entry.body.count >= 28 else { return nil }
    func size(_ place: Int) -> Int {
      bytes.integer(body.lowerBound + place) / max(bytes.integer(body.lowerBound + place + 4), 1)
    }
    func field(_ place: Int) -> Int { bytes.number(entry.body.lowerBound + place..<entry.body.lowerBound + place + 2) }
    let (width, height) = (size(0), size(8))
    return (width, height) == (field(24), field(26)) ? nil : "the crop to \(width)x\(height) (clap)"
  }

  /// Returns the detail for the volume of a track in `tkhd` (8.3.2); nil if the volume is not
  /// declared, 0 or 100 %.
  private static func volume(of track: Range<Int>, _ bytes: [UInt8]) -> String? {
    guard let header = bytes.box("tkhd", in: track), let version = bytes[header].first,
      case let place = header.lowerBound + (version == 1 ? 48 : 36), place + 2 <= header.upperBound
    else { return nil }
    let volume = bytes.number(place..<place + 2)
    return [0, 256].contains(volume) ? nil : "the volume of the track (\(volume * 100 / 256) %, tkhd)"
  }

  /// Returns the DASH roles of a track (`kind`, ISO/IEC 14496-12, 8.10.4; ISO/IEC 23009-1,
  /// 5.8.5.5), except `main`.
  private static func roles(of track: Range<Int>, _ bytes: [UInt8]) -> [String] {
    guard let data = bytes.box("udta", in: track) else { return [] }
    return Box.all(in: bytes[data]).filter { $0.type == "kind" && $0.body.count > 4 }.compactMap { box in
      let texts = bytes[box.body.dropFirst(4)].split(separator: 0, omittingEmptySubsequences: false)
        .map { String(decoding: $0.prefix(64), as: UTF8.self) }
      guard texts.count > 1, texts[0] == "urn:mpeg:dash:role:2011", !["main", ""].contains(texts[1]) else { return nil }
      return texts[1]
    }
  }

  private static func isForced(role: String) -> Bool { ["forced-subtitle", "forced_subtitle"].contains(role) }

  private static let someAreForced = "the forced flag of some subtitles (tx3g)"

  /// Share of forced subtitles in a track. Forced subtitles are shown regardless of user settings.
  enum ForcedSubtitles {
    case some, all
  }

  /// True if all subtitles of a track are forced.
  /// - Parameter table: body of the track's `stbl` box.
  static func isForced(_ track: Range<Int>, table: Range<Int>, _ bytes: [UInt8]) -> Bool {
    entries(table, bytes).contains { forcing(of: $0, bytes) == .all }
      || roles(of: track, bytes).contains(where: isForced)
  }

  /// Reads the share of forced subtitles in the description of timed text (`displayFlags` of
  /// `tx3g`; 3GPP TS 26.245, 5.16; for forced subtitles, "QuickTime File Format", "Subtitle Sample
  /// Description"). Nil if no subtitles are forced.
  private static func forcing(of entry: Box, _ bytes: [UInt8]) -> ForcedSubtitles? {
    guard entry.type == "tx3g", entry.body.count >= 12 else { return nil }
    let flags = bytes.integer(entry.body.lowerBound + 8)
    return flags & 0x8000_0000 != 0 ? .all : flags & 0x4000_0000 != 0 ? .some : nil
  }

  private static let spherical = "the 360° description (spherical video, uuid)"

  /// Returns the detail for Google's Spherical Video V1, which is in a `uuid` box of the track.
  private static func uuids(in track: Range<Int>, _ bytes: [UInt8]) -> [String] {
    Box.all(in: bytes[track]).contains { $0.type == "uuid" && isSpherical($0, bytes) } ? [spherical] : []
  }

  private static func isSpherical(_ box: Box, _ bytes: [UInt8]) -> Bool {
    bytes[box.body].starts(with: [
      0xFF, 0xCC, 0x82, 0x63, 0xF8, 0x55, 0x4A, 0x93, 0x88, 0x14, 0x58, 0x7A, 0x02, 0x52, 0x1F, 0xDD,
    ])
  }

  /// Returns the detail for edits that play the media at another speed. The output does not apply
  /// this speed.
  private static func speeds(of track: Range<Int>, _ bytes: [UInt8]) -> [String] {
    MP4Edit.all(in: track, of: bytes).contains { $0.start != nil && $0.duration > 0 && !$0.isAtOwnSpeed }
      ? ["the speed in the edit list (elst): the output plays at the recorded speed"] : []
  }

  /// Returns details for top-level boxes with data other than media. XMP is not reported, because
  /// GStreamer reads it.
  static func nonMediaBoxes(_ file: RandomAccessFile) -> [ContainerDetail] {
    file.boxes.flatMap { box -> [ContainerDetail] in
      switch box.type {
      case "axte": auxiliaryTracks(file, box.body.clamped(to: 0..<file.size))
      case "meta": [ContainerDetail(file: "the metadata outside the movie (meta)")]
      case "uuid": file.read(box.body.prefix(16)).flatMap(unknown(identifier:)).map { [$0] } ?? []
      default: []
      }
    }
  }

  /// Returns details for the tracks of the second movie that Android cameras append (`axte`), such
  /// as a depth track.
  private static func auxiliaryTracks(_ file: RandomAccessFile, _ movie: Range<Int>) -> [ContainerDetail] {
    guard let index = MP4Index(file, in: file.boxes(in: movie)) else { return [] }
    return index.tracks.map { track in
      let handler = index.bytes.box("mdia", "hdlr", in: track).flatMap { $0.count >= 12 ? $0.lowerBound + 8 : nil }
      let isVideo = handler.map { index.bytes.text($0) == "vide" } ?? false
      return ContainerDetail(track: "auxiliary \(isVideo ? "video" : "data") (axte)")
    }
  }

  /// Returns the detail for an unknown `uuid` box; nil for a known one.
  /// - Parameter identifier: first 16 bytes of the box.
  private static func unknown(identifier: [UInt8]) -> ContainerDetail? {
    guard identifier.count == 16, !known.contains(Array(identifier.prefix(4))) else { return nil }
    let digits = identifier.prefix(4).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return ContainerDetail(file: "the data outside the movie (uuid \(digits))")
  }

  /// First bytes of known identifiers: XMP, and Sony's profile (`PROF`), which only repeats
  /// properties of the streams.
  private static let known: Set<[UInt8]> = [[0xBE, 0x7A, 0xCF, 0xCB], Array("PROF".utf8)]
}
