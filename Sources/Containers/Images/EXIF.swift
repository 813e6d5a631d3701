/// EXIF metadata, which has the structure of a TIFF file (CIPA DC-008, 4.5; TIFF 6.0, section 2).
struct EXIF {
  /// First bytes of the JPEG segment that contains EXIF.
  static let mark = Array("Exif\0\0".utf8)

  /// Orientation, as in GST_TAG_IMAGE_ORIENTATION; nil if not declared.
  private(set) var orientation: String?
  /// True if there is other metadata than the orientation.
  private(set) var hasMore = false

  /// - Parameter bytes: the TIFF structure. The mark of the JPEG segment may precede it, as some
  ///   programs write it into PNG and WebP, too.
  init(_ bytes: [UInt8]) {
    let start = bytes.starts(with: EXIF.mark) ? EXIF.mark.count : 0
    let isLittleEndian = bytes.dropFirst(start).starts(with: "II".utf8)
    func number(at place: Int, _ count: Int) -> Int? {
      guard place >= 0, place <= bytes.count - count else { return nil }
      let part = Array(bytes[place..<place + count])
      return (isLittleEndian ? part.reversed() : part).reduce(0) { $0 << 8 | Int($1) }
    }
    guard isLittleEndian || bytes.dropFirst(start).starts(with: "MM".utf8), let offset = number(at: start + 4, 4),
      let count = number(at: start + offset, 2)
    else {
      hasMore = !bytes.isEmpty
      return
    }
    // An entry has a tag, a type, a count, and a value of up to four bytes.
    let entries = start + offset + 2
    for entry in 0..<count {
      let place = entries + entry * 12
      guard let tag = number(at: place, 2) else { break }
      if tag != 0x0112 {
        hasMore = true
      } else if let value = number(at: place + 8, 2), EXIF.orientations.indices.contains(value - 1) {
        orientation = EXIF.orientations[value - 1]
      }
    }
    // A second directory describes the thumbnail.
    if number(at: entries + count * 12, 4) ?? 0 != 0 { hasMore = true }
  }

  /// Orientations for the values 1 to 8, as `jpegparse` reports them.
  private static let orientations = [
    "rotate-0", "flip-rotate-0", "rotate-180", "flip-rotate-180", "flip-rotate-270", "rotate-90", "flip-rotate-90",
    "rotate-270",
  ]
}
