import Containers
import GStreamer

/// An image alone in a file, of a format that `parsebin` gives decoders in pieces, of which they make nothing
/// (`Quirk.parsebinWholeImages`, `Quirk.jpegparseRank`).
enum StillImage {
  /// One or more, one after the other: `jpegparse` tells them apart.
  case jpeg
  /// A file that is read in one piece; its media type.
  case whole(String, bytes: Int)

  /// nil of a file that begins like none (JFIF 1.02; BITMAPFILEHEADER; TIFF 6.0, 2).
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

  /// Elements that read the image, in `gst-launch-1.0` syntax.
  /// - Throws: ``RetrogradeError`` of code `damagedInput`, where reading it would take more than `memory`.
  func sourceDescription(_ path: String, name: String, memory: ByteCount) throws -> String {
    switch self {
    case .jpeg: return "filesrc name=source location=\(Description.quoted(path)) ! jpegparse"
    case .whole(let type, let bytes):
      // The file, a copy of it on its way, and the image that comes of it.
      guard bytes < memory.bytes / 3 else {
        throw RetrogradeError(
          .damagedInput,
          about: name,
          "an image in a file of \(ByteCount(bytes)) takes three times that to decode, and the budget (\(setting: .memory)) is "
            + "\(memory)")
      }
      // Its name is a pattern of numbered files.
      let pattern = path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
      return "multifilesrc name=source location=\(Description.quoted(pattern)) start-index=0 stop-index=0 caps=\(type)"
    }
  }
}
