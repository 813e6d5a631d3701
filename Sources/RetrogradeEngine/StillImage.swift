import Containers
import GStreamer

/// Image file that `parsebin` would pass to the decoder in unusable pieces
/// (`Quirk.parsebinWholeImages`, `Quirk.jpegparseRank`).
enum StillImage {
  /// One or more JPEG images in sequence, which `jpegparse` separates.
  case jpeg
  /// Media type and size of a file that is read as one buffer.
  case whole(String, bytes: Int)

  /// Detects an image by its first bytes (JFIF 1.02; BITMAPFILEHEADER; TIFF 6.0, section 2); nil
  /// for other files.
  init?(_ file: ContainerFacts) {
    let start = file.beginning
    guard start.count >= 10 else { return nil }
    switch (start[0], start[1], start[2], start[3]) {
    case (0xFF, 0xD8, 0xFF, _): self = .jpeg
    case (0x42, 0x4D, _, _) where start[6..<10].allSatisfy({ $0 == 0 }): self = .whole("image/bmp", bytes: file.size)
    case (0x49, 0x49, 42, 0), (0x4D, 0x4D, 0, 42): self = .whole("image/tiff", bytes: file.size)
    default: return nil
    }
  }

  /// Returns the GStreamer elements that read the image, in `gst-launch-1.0` syntax.
  /// - Throws: ``RetrogradeError`` of code `damagedInput` if reading the image would take more than
  ///   `memory`.
  func sourceDescription(_ path: String, name: String, memory: ByteCount) throws -> String {
    switch self {
    case .jpeg: return "filesrc name=source location=\(Description.quoted(path)) ! jpegparse"
    case .whole(let type, let bytes):
      // Memory must fit the file, a copy in transit, and the decoded image.
      guard bytes < memory.bytes / 3 else {
        throw RetrogradeError(
          .damagedInput,
          about: name,
          "the image file has \(ByteCount(bytes)), and decoding it needs three times as much memory, but "
            + "\(setting: .memory) is \(memory)"
        )
      }
      // multifilesrc reads its location as a pattern for numbered files, in which `%%` means `%`.
      let pattern = path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
      return "multifilesrc name=source location=\(Description.quoted(pattern)) start-index=0 stop-index=0 caps=\(type)"
    }
  }
}
