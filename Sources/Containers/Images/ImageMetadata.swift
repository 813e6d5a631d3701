/// Metadata of a PNG, WebP or JPEG file that GStreamer does not read. Of a JPEG, only the
/// orientation and the comments are read here. GStreamer reads the rest of a single JPEG, and of
/// the first numbered image.
struct ImageMetadata {
  /// Orientation in EXIF, as in GST_TAG_IMAGE_ORIENTATION; nil if not declared.
  private(set) var orientation: String?
  private(set) var tags: [NamedTag] = []
  private(set) var details: [ContainerDetail] = []
  /// Comments of a JPEG.
  private(set) var comments: [[UInt8]] = []

  /// - Returns: nil if the file is neither PNG, WebP nor JPEG.
  init?(_ file: RandomAccessFile) {
    guard let start = file.read(0..<12) else { return nil }
    switch (start[0], start[1], start[2], start.text(8)) {
    case (0x89, 0x50, 0x4E, _): readPNG(file)
    case (0x52, 0x49, 0x46, "WEBP"): readWebP(file)
    case (0xFF, 0xD8, 0xFF, _):
      // EXIF fits into one segment, and must be the first or second one.
      let header = file.read(0..<min(file.size, 1 << 17)) ?? []
      (orientation, comments) = header.withUnsafeBytes { (JPEGPacket.orientation($0), JPEGPacket.comments($0)) }
    default: return nil
    }
  }

  /// Reads the chunks of a PNG (PNG, third edition, sections 5.3 and 11.3).
  private mutating func readPNG(_ file: RandomAccessFile) {
    var colours: [String: [UInt8]] = [:]
    var (textBytes, hasFurtherTexts) = (0, false)
    var place = 8
    for _ in 0..<ImageMetadata.mostChunks {
      guard let size = file.number(at: place, 4), let name = file.text(at: place + 4), name != "IEND" else { break }
      let body = place + 8..<place + 8 + size
      switch name {
      case "cICP", "iCCP", "sRGB", "gAMA", "cHRM", "mDCV", "cLLI":
        if colours[name] == nil { colours[name] = file.read(body.prefix(ImageMetadata.longestColours)) }
      case "tEXt", "zTXt", "iTXt":
        textBytes += 256 + min(size, ImageMetadata.longestText)
        if textBytes <= ImageMetadata.mostText { readText(name, file, body) } else { hasFurtherTexts = true }
      case "eXIf": readEXIF(file, body, name)
      case "pHYs":
        // Not applied, because programs disagree: FFmpeg writes and reads the inverse ratio.
        if let across = file.number(at: body.lowerBound, 4), let down = file.number(at: body.lowerBound + 4, 4),
          ImageMetadata.hasOtherShape(across, down)
        {
          details.append(ContainerDetail("the pixel aspect ratio of the image (pHYs)", of: .video))
        }
      default: break
      }
      place = body.upperBound + 4
    }
    details += ImageMetadata.colourDetails(colours)
    if hasFurtherTexts { details.append(ContainerDetail(file: "further texts (tEXt, zTXt, iTXt)")) }
  }

  /// Returns details for colours other than sRGB, in which all images are read.
  /// - Parameter chunks: contents of the PNG chunks about colour, by name.
  private static func colourDetails(_ chunks: [String: [UInt8]]) -> [ContainerDetail] {
    var lost: [String] = []
    // Primaries, transfer, matrix and range of sRGB (ITU-T H.273).
    if let codes = chunks["cICP"], codes != [1, 13, 0, 1] { lost.append("the colour description of the image (cICP)") }
    if chunks["iCCP"] != nil { lost.append("the ICC profile (iCCP)") }
    if chunks["mDCV"] != nil { lost.append("the HDR10 metadata of the image (mDCV)") }
    if chunks["cLLI"] != nil { lost.append("the light levels of the image (cLLI)") }
    if chunks["sRGB"] == nil {
      // Both are stored times 100,000. Programs round the values of sRGB differently.
      if let gamma = chunks["gAMA"], gamma.count == 4, !(45_400...45_500).contains(gamma.integer(0)) {
        lost.append("the gamma of the image (gAMA)")
      }
      if let points = chunks["cHRM"], points.count == 32,
        zip(primaries, stride(from: 0, to: 32, by: 4)).contains(where: { abs($0 - points.integer($1)) > 100 })
      {
        lost.append("the colour primaries of the image (cHRM)")
      }
    }
    return lost.map { ContainerDetail($0, of: .video) }
  }

  /// White point and primaries of sRGB, times 100,000.
  private static let primaries = [31_270, 32_900, 64_000, 33_000, 30_000, 60_000, 15_000, 6_000]

  /// Reads a text chunk: a keyword and a text. In `iTXt`, four fields lie between them.
  private mutating func readText(_ chunk: String, _ file: RandomAccessFile, _ body: Range<Int>) {
    let bytes = file.read(body.prefix(ImageMetadata.longestText)) ?? []
    let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let keyword = Array(parts[0]).annotation else { return }
    var text: [UInt8]?
    if chunk == "tEXt" { text = Array(parts[1]) }
    // Compression flag and method, then language and translated keyword, each with a zero.
    if chunk == "iTXt", parts[1].first == 0 {
      let fields = parts[1].dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
      text = fields.count == 3 ? Array(fields[2]) : []
    }
    if chunk == "iTXt", keyword == "XML:com.adobe.xmp" {
      details.append(ContainerDetail(file: "the XMP metadata (iTXt)"))
    } else if let text, body.count <= ImageMetadata.longestText {
      guard let value = text.annotation else { return }
      let tag = NamedTag(name: ImageMetadata.names[keyword.lowercased()] ?? keyword, text: value)
      if !tag.isTechnical { tags.append(tag) }
    } else {
      details.append(ContainerDetail(file: "the text “\(keyword)” (\(chunk))"))
    }
  }

  /// Names of tags by PNG keyword (PNG, third edition, 11.3.3.1).
  private static let names = [
    "title": "TITLE", "author": "ARTIST", "description": "DESCRIPTION", "copyright": "COPYRIGHT",
    "comment": "COMMENT", "software": "application_name",
  ]

  /// Reads the metadata chunks of a WebP (RFC 9649, 2.7.1).
  private mutating func readWebP(_ file: RandomAccessFile) {
    guard let size = file.number(at: 4, 4, isLittleEndian: true) else { return }
    for (name, body) in file.chunks(in: 12..<max(12, min(8 + size, file.size))) {
      switch name {
      case "ICCP": details.append(ContainerDetail("the ICC profile (ICCP)", of: .video))
      case "XMP ": details.append(ContainerDetail(file: "the XMP metadata (XMP)"))
      case "EXIF": readEXIF(file, body, name)
      default: break
      }
    }
  }

  private mutating func readEXIF(_ file: RandomAccessFile, _ body: Range<Int>, _ chunk: String) {
    let found = EXIF(file.read(body.prefix(ImageMetadata.longestText)) ?? [])
    orientation = found.orientation ?? orientation
    if found.hasMore { details.append(ContainerDetail(file: "the EXIF metadata (\(chunk))")) }
  }

  /// True if two densities declare pixels that are not square.
  private static func hasOtherShape(_ across: Int, _ down: Int) -> Bool {
    guard across > 0, down > 0 else { return false }
    // Densities are often rounded, so a small difference declares no other shape.
    return abs(across - down) > 1 || min(across, down) < 100 && across != down
  }

  /// Maximum number of chunks that are read. The longest animations have fewer.
  private static let mostChunks = 1 << 24
  /// Maximum number of bytes that are read of a text or of EXIF.
  private static let longestText = 1 << 16
  /// Maximum size of all texts, each with 256 bytes that it takes in memory besides.
  private static let mostText = 1 << 22
  /// Maximum number of bytes that are read of a chunk about colours.
  private static let longestColours = 32
}
