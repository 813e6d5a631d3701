import GStreamer
import Glibc

/// How light a frame is, in few pixels: what survives lossy coding, and tells frames apart.
struct Thumbnail {
  static let (width, height) = (160, 96)
  static let form =
    "video/x-raw,format=GRAY8,width=\(width),height=\(height),pixel-aspect-ratio=1/1,colorimetry=1:4:0:0"

  let pixels: [UInt8]

  /// - Parameter frame: in ``form``.
  init(_ frame: Buffer) throws {
    pixels = try frame.withBytes { Array($0.prefix(Thumbnail.width * Thumbnail.height)) }
  }

  /// The peak signal-to-noise ratio between the two, in dB; 99 where they are the same.
  func likeness(to other: Thumbnail) -> Double {
    var sum = 0
    for (a, b) in zip(pixels, other.pixels) {
      let difference = Int(a) - Int(b)
      sum += difference * difference
    }
    guard sum > 0, !pixels.isEmpty else { return 99 }
    return 10 * log10(255 * 255 * Double(pixels.count) / Double(sum))
  }
}
