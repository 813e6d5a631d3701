import Containers
import GStreamer

/// A picture alone in a file, of a format that GStreamer 1.22's `parsebin` has no parser for: its decoder would get the file in
/// pieces, and make nothing of them.
enum StillPicture {
  /// One or more, one after the other: `jpegparse` tells them apart, which `parsebin` leaves out (rank none).
  case jpeg
  /// To be read in one piece; its media type.
  case whole(String)

  /// nil where the file at `path` begins like none (JFIF 1.02; BITMAPFILEHEADER; TIFF 6.0, 2).
  init?(_ path: String) {
    guard let file = RandomAccessFile(path), let start = file.read(0..<min(10, file.size)), start.count == 10 else {
      return nil
    }
    switch (start[0], start[1], start[2], start[3]) {
    case (0xFF, 0xD8, 0xFF, _): self = .jpeg
    case (0x42, 0x4D, _, _) where start[6..<10].allSatisfy({ $0 == 0 }): self = .whole("image/bmp")
    case (0x49, 0x49, 42, 0), (0x4D, 0x4D, 0, 42): self = .whole("image/tiff")
    default: return nil
    }
  }

  /// What reads it, in `gst-launch-1.0` syntax.
  func opening(_ path: String) -> String {
    switch self {
    case .jpeg: return "filesrc name=source location=\(Description.quoted(path)) ! jpegparse"
    case .whole(let type):
      // Its name is a pattern of numbered files.
      let name = path.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "%%")
      return "multifilesrc name=source location=\(Description.quoted(name)) start-index=0 stop-index=0 caps=\(type)"
    }
  }
}
