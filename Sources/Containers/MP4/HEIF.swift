/// Images in boxes like those of MP4: HEIF (ISO/IEC 23008-12) and AVIF.
extension ContainerFacts {
  /// Name of the format; nil if the file does not begin as an image of this kind.
  package var boxedImage: String? {
    guard beginning.count >= 12, beginning.text(4) == "ftyp" else { return nil }
    switch beginning.text(8) {
    case "avif", "avis": return "AVIF"
    case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1": return "HEIF"
    default: return nil
    }
  }

  /// Place of the film in a motion photo: a whole MP4 file in a box of its own (Android's Motion Photo format 1.0,
  /// `mpvd`). nil if the file is no such photo.
  package func film(in path: String) -> Range<Int>? {
    guard boxedImage != nil, let file = RandomAccessFile(path) else { return nil }
    var offset = 0
    // Such a file has a few boxes.
    for _ in 0..<64 {
      guard let head = file.read(offset..<min(offset + 16, file.size)),
        let box = Box(head[...], at: 0, limit: file.size - offset)
      else { return nil }
      if box.type == "mpvd" { return offset + box.body.lowerBound..<offset + box.body.upperBound }
      offset += box.body.upperBound
    }
    return nil
  }
}
