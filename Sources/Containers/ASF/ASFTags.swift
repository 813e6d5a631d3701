/// Tags of an ASF file that asfdemux ignores or misreads ("Advanced Systems Format Specification",
/// Microsoft, 3.11 and 4.8).
enum ASFTags {
  /// Reads the tags that asfdemux ignores or misreads.
  /// - Returns: tags, named like the corresponding Vorbis comment if there is one; and details that
  ///   no output can keep.
  static func unread(in file: RandomAccessFile) -> (tags: [NamedTag], details: [ContainerDetail]) {
    var found: (tags: [NamedTag], details: [ContainerDetail]) = ([], [])
    guard let size = file.number(at: 16, 8, isLittleEndian: true), size >= 30, size <= min(file.size, largest),
      let header = file.read(0..<size)
    else { return found }
    for object in objects(in: header[30...]) {
      switch object.id {
      case descriptions: read(object.body, isLibrary: false, &found)
      case headerExtension where object.body.count > 22:
        for inner in objects(in: object.body.dropFirst(22)) where inner.id == library {
          read(inner.body, isLibrary: true, &found)
        }
      case markers:
        let count = object.body.dropFirst(16).prefix(4).littleEndian
        if count > 0 { found.details.append(ContainerDetail(file: "\(count) marker\(count == 1 ? "" : "s")")) }
      case commands: found.details.append(ContainerDetail(file: "script commands"))
      default: break
      }
    }
    let object = objects(in: header[30...]).first { $0.id == description }
    let texts = object.map { fields(of: $0.body) } ?? []
    // asfdemux mistakes the album artist for a second artist of the file
    // (`gst_asf_demux_process_ext_content_desc`).
    if found.tags.contains(where: { $0.name == albumArtist }), texts.count > 1, !texts[1].isEmpty {
      found.tags.append(NamedTag(name: "ARTIST", text: texts[1]))
    }
    // asfdemux mistakes the rating for a comment (`gst_asf_demux_process_comment`). FFmpeg also
    // writes the rating to the extended description, so `found` may already have it.
    if texts.count > 4, !texts[4].isEmpty, !found.tags.contains(where: { $0.name.uppercased() == rating }) {
      found.tags.append(NamedTag(name: rating, text: texts[4]))
    }
    return found
  }

  /// Title, author, copyright, description and rating in the Content Description Object. The object
  /// begins with the lengths of these texts (3.10).
  private static func fields(of description: ArraySlice<UInt8>) -> [String] {
    var rest = description.dropFirst(10)
    return (0..<5).map { number in
      let length = description.dropFirst(2 * number).prefix(2).littleEndian
      defer { rest = rest.dropFirst(length) }
      return rest.prefix(length).text
    }
  }

  static let albumArtist = "ALBUMARTIST"
  static let rating = "RATING"

  /// Maximum header size in bytes; a larger one is treated as damage.
  private static let largest = 1 << 26

  private static func objects(in bytes: ArraySlice<UInt8>) -> [(id: [UInt8], body: ArraySlice<UInt8>)] {
    var found: [(id: [UInt8], body: ArraySlice<UInt8>)] = []
    var rest = bytes
    while rest.count >= 24 {
      let size = rest.dropFirst(16).prefix(8).littleEndian
      guard size >= 24, size <= rest.count else { break }
      found.append((Array(rest.prefix(16)), rest.prefix(size).dropFirst(24)))
      rest = rest.dropFirst(size)
    }
    return found
  }

  /// Reads a list of names and values. In the metadata library, each entry also has a language and
  /// a stream number, and begins with the lengths of its name and value.
  private static func read(
    _ list: ArraySlice<UInt8>, isLibrary: Bool, _ found: inout (tags: [NamedTag], details: [ContainerDetail])
  ) {
    var rest = list
    func take(_ count: Int) -> ArraySlice<UInt8>? {
      guard count <= rest.count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    let count = take(2)?.littleEndian ?? 0
    for _ in 0..<count {
      var (name, value, type): (ArraySlice<UInt8>?, ArraySlice<UInt8>?, Int)
      if isLibrary {
        guard let fields = take(12) else { return }
        type = fields.dropFirst(6).prefix(2).littleEndian
        name = take(fields.dropFirst(4).prefix(2).littleEndian)
        value = take(fields.dropFirst(8).littleEndian)
      } else {
        name = (take(2)?.littleEndian).flatMap { take($0) }
        type = take(2)?.littleEndian ?? 0
        value = (take(2)?.littleEndian).flatMap { take($0) }
      }
      guard let name, let value else { return }
      add(name.text, value, type, isLibrary: isLibrary, &found)
    }
  }

  private static func add(
    _ name: String, _ value: ArraySlice<UInt8>, _ type: Int, isLibrary: Bool,
    _ found: inout (tags: [NamedTag], details: [ContainerDetail])
  ) {
    if technical.contains(where: name.hasPrefix) || !isLibrary && known.contains(name) { return }
    let own = names[name] ?? (name.hasPrefix("WM/") ? String(name.dropFirst(3)) : name)
    switch type {
    case 0:
      let text = value.text
      // asfdemux reads a track number only without a total (`3`), and a disc number only with a
      // total (`1/2`).
      let isRead = !isLibrary && (name == "WM/TrackNumber" || name == "WM/PartOfSet")
      if isRead, text.contains("/") == (name == "WM/PartOfSet") || text.isEmpty { return }
      if !text.isEmpty { found.tags.append(NamedTag(name: own, text: text)) }
    case 2, 3, 4, 5:
      if name != "WM/TrackNumber" || isLibrary {
        found.tags.append(NamedTag(name: own, text: "\(value.prefix(8).littleEndian)"))
      }
    default: found.details.append(ContainerDetail(file: "the tag \(name)"))
    }
  }

  /// Names of tags that asfdemux reads in the Extended Content Description Object.
  private static let known: Set = [
    "WM/AlbumTitle", "WM/Picture", "WM/Year", "WM/Track", "Title", "Author",
    "Copyright",
  ]
  /// Names or prefixes of tags that describe the encoder or the layout of the file.
  private static let technical = [
    "WM/EncodingSettings", "WM/EncodingTime", "WMFSDK", "ASFLeakyBucket", "AspectRatio", "IsVBR", "DeviceConformance",
    "Stereoscopic", "SeekPoint", "WM/WMADRC", "PeakValue", "AverageLevel", "MediaFoundationVersion", "WM/MediaPrimary",
    "WM/MediaSecondary", "Buffer",
  ]
  private static let names = [
    "WM/Genre": "GENRE", "WM/TrackNumber": "TRACKNUMBER", "WM/PartOfSet": "DISCNUMBER", "WM/Composer": "COMPOSER",
    "WM/EncodedBy": "ENCODED-BY", "WM/Publisher": "PUBLISHER", "WM/Lyrics": "LYRICS", "WM/Conductor": "CONDUCTOR",
    "WM/BeatsPerMinute": "BEATS-PER-MINUTE", "WM/ISRC": "ISRC", "WM/AlbumTitle": "ALBUM", "WM/Year": "DATE",
    "WM/AlbumArtist": albumArtist, "Description": "COMMENT",
  ]

  private static let description: [UInt8] = [
    0x33, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C,
  ]
  private static let descriptions: [UInt8] = [
    0x40, 0xA4, 0xD0, 0xD2, 0x07, 0xE3, 0xD2, 0x11, 0x97, 0xF0, 0x00, 0xA0, 0xC9, 0x5E, 0xA8, 0x50,
  ]
  private static let headerExtension: [UInt8] = [
    0xB5, 0x03, 0xBF, 0x5F, 0x2E, 0xA9, 0xCF, 0x11, 0x8E, 0xE3, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]
  private static let markers: [UInt8] = [
    0x01, 0xCD, 0x87, 0xF4, 0x51, 0xA9, 0xCF, 0x11, 0x8E, 0xE6, 0x00, 0xC0, 0x0C, 0x20, 0x53, 0x65,
  ]
  private static let commands: [UInt8] = [
    0x30, 0x1A, 0xFB, 0x1E, 0x62, 0x0B, 0xD0, 0x11, 0xA3, 0x9B, 0x00, 0xA0, 0xC9, 0x03, 0x48, 0xF6,
  ]
  private static let library: [UInt8] = [
    0x94, 0x1C, 0x23, 0x44, 0x98, 0x94, 0xD1, 0x49, 0xA1, 0x41, 0x1D, 0x13, 0x4E, 0x45, 0x70, 0x54,
  ]
}

extension ArraySlice<UInt8> {
  /// UTF-16 text up to the first NUL.
  fileprivate var text: String {
    let units = stride(from: startIndex, to: endIndex - 1, by: 2).map { UInt16(self[$0]) | UInt16(self[$0 + 1]) << 8 }
    return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
  }
}
