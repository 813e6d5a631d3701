/// Images whose format consists of boxes, like MP4: HEIF (ISO/IEC 23008-12) and AVIF.
extension ContainerFacts {
  /// Name of the image format; nil if the file is neither HEIF nor AVIF.
  package var boxedImage: String? {
    guard beginning.count >= 12, beginning.text(4) == "ftyp" else { return nil }
    switch beginning.text(8) {
    case "avif", "avis": return "AVIF"
    case "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1": return "HEIF"
    default: return nil
    }
  }

  /// Returns the range of the video in a motion photo: a complete MP4 file in the `mpvd` box
  /// (Android's Motion Photo format 1.0). Nil if the file is not a motion photo.
  package func film(in path: String) -> Range<Int>? {
    guard boxedImage != nil, let file = RandomAccessFile(path) else { return nil }
    var offset = 0
    // This limit suffices, because motion photos have only a few boxes.
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
