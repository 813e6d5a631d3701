import CImages

/// The pictures of an animated WebP, as they are shown (libwebp's WebPAnimDecoder).
package enum WebPFrames {
  /// Whether a file that starts so is an animated WebP: RIFF, WEBP, VP8X, and the flag for animation (RFC 9649, 2.7).
  package static func isAnimated(_ start: [UInt8]) -> Bool {
    start.count > 21 && start.prefix(4).elementsEqual("RIFF".utf8) && start[8..<16].elementsEqual("WEBPVP8X".utf8)
      && start[20] & 2 != 0
  }

  /// The size of the canvas, as the first bytes of a file say it; nil where it is no animated WebP (RFC 9649, 2.7).
  package static func canvas(_ start: [UInt8]) -> (width: Int, height: Int)? {
    guard isAnimated(start), start.count >= 30 else { return nil }
    func number(_ place: Int) -> Int { start[place..<place + 3].reversed().reduce(0) { $0 << 8 | Int($1) } + 1 }
    return (number(24), number(27))
  }

  /// Calls `body` with each picture, RGBA, rows without padding, and the time at which the next one is shown.
  /// - Returns: false where `bytes` are no animated WebP.
  package static func read(
    _ bytes: [UInt8],
    _ body: (_ pixels: UnsafeRawBufferPointer, _ width: Int, _ height: Int, _ endMilliseconds: Int) throws -> Void
  ) throws -> Bool {
    guard isAnimated(bytes) else { return false }
    try bytes.withUnsafeBufferPointer { buffer in
      var data = WebPData(bytes: buffer.baseAddress, size: buffer.count)
      guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw ImageError(message: "damaged beyond use") }
      defer { WebPAnimDecoderDelete(decoder) }
      var info = WebPAnimInfo()
      WebPAnimDecoderGetInfo(decoder, &info)
      let (width, height) = (Int(info.canvas_width), Int(info.canvas_height))
      while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
        var pixels: UnsafeMutablePointer<UInt8>?
        var end: Int32 = 0
        guard WebPAnimDecoderGetNext(decoder, &pixels, &end) != 0, let pixels else {
          throw ImageError(message: "damaged beyond use")
        }
        try body(UnsafeRawBufferPointer(start: pixels, count: width * height * 4), width, height, Int(end))
      }
    }
    return true
  }
}
