import CImages

/// Writer of an animated WebP (libwebp's WebPAnimEncoder). The compressed file stays in memory
/// until it is complete, because the header declares the file's length.
package final class WebPAnimation {
  private let encoder: OpaquePointer
  private var config = WebPConfig()
  private let width: Int
  private let height: Int
  private let plays: Int
  private let isStill: Bool
  /// Start of each frame, in milliseconds.
  private var starts: [Int] = []

  /// - Parameters:
  ///   - quality: 0 to 100; nil for lossless.
  ///   - plays: number of times that players show the animation; 0 loops forever.
  ///   - isStill: true to write a still image, without duration, if there is only one frame.
  package init(width: Int, height: Int, quality: Double?, plays: Int = 0, isStill: Bool = false) throws {
    guard (1...16_383).contains(width), (1...16_383).contains(height) else {
      throw ImageError(message: "a WebP can have up to 16383x16383 pixels, not \(width)x\(height)")
    }
    var options = WebPAnimEncoderOptions()
    guard WebPAnimEncoderOptionsInit(&options) != 0, WebPConfigInit(&config) != 0 else {
      throw ImageError(message: "this program was built for another version of libwebp")
    }
    options.anim_params.loop_count = Int32(clamping: plays)
    config.quality = Float(quality ?? 75)
    config.lossless = quality == nil ? 1 : 0
    config.thread_level = 1
    guard let encoder = WebPAnimEncoderNew(Int32(width), Int32(height), &options) else {
      throw ImageError(message: "no memory for a WebP animation")
    }
    self.encoder = encoder
    self.width = width
    self.height = height
    self.plays = plays
    self.isStill = isStill
  }

  deinit { WebPAnimEncoderDelete(encoder) }

  /// Pixel layout of a frame.
  package enum Layout: Sendable {
    /// 8 bits per component, rows without padding.
    case rgba
    /// Y, U and V planes, 4:2:0, BT.601 (RFC 9649, 2.5). The length of rows is padded to a multiple
    /// of four bytes, and the number of rows to an even number. Lossy WebP stores this format, so
    /// no conversion reduces the quality.
    case i420
  }

  /// Adds a frame.
  /// - Parameter milliseconds: start of the frame.
  package func add(_ pixels: UnsafeRawBufferPointer, as layout: Layout, at milliseconds: Int) throws {
    try check(milliseconds)
    var image = WebPPicture()
    guard WebPPictureInit(&image) != 0 else { throw failure }
    defer { WebPPictureFree(&image) }
    image.width = Int32(width)
    image.height = Int32(height)
    switch layout {
    case .rgba:
      image.use_argb = 1
      guard pixels.count >= width * height * 4,
        WebPPictureImportRGBA(&image, pixels.bindMemory(to: UInt8.self).baseAddress, Int32(width * 4)) != 0
      else { throw failure }
    case .i420: try point(&image, at: pixels)
    }
    guard WebPAnimEncoderAdd(encoder, &image, Int32(clamping: milliseconds), &config) != 0 else { throw failure }
    starts.append(milliseconds)
  }

  /// Makes the image refer to the caller's planes, without copying the pixels.
  private func point(_ image: inout WebPPicture, at pixels: UnsafeRawBufferPointer) throws {
    func padded(_ count: Int, to unit: Int) -> Int { (count + unit - 1) / unit * unit }
    let (rows, stride, halfStride) = (padded(height, to: 2), padded(width, to: 4), padded((width + 1) / 2, to: 4))
    let size = rows * stride
    guard pixels.count >= size + rows * halfStride, let start = pixels.baseAddress else {
      throw ImageError(message: "a frame has fewer bytes than its size requires")
    }
    // libwebp only reads the planes.
    func plane(_ offset: Int) -> UnsafeMutablePointer<UInt8> {
      UnsafeMutablePointer(mutating: (start + offset).assumingMemoryBound(to: UInt8.self))
    }
    image.colorspace = WEBP_YUV420
    (image.y, image.u, image.v) = (plane(0), plane(size), plane(size + rows / 2 * halfStride))
    (image.y_stride, image.uv_stride) = (Int32(stride), Int32(halfStride))
  }

  /// Ends the animation `milliseconds` after its start, and passes the bytes of the file to `body`.
  package func finish(at milliseconds: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try check(milliseconds)
    var data = WebPData()
    WebPDataInit(&data)
    defer { WebPDataClear(&data) }
    guard WebPAnimEncoderAdd(encoder, nil, Int32(clamping: milliseconds), nil) != 0,
      WebPAnimEncoderAssemble(encoder, &data) != 0
    else { throw failure }
    let durations = zip(starts, starts.dropFirst() + [milliseconds]).map { $1 - $0 }
    try WebPFrameSplitter(width: width, height: height, plays: plays, isStill: isStill).split(data, durations, body)
  }

  /// Checks that libwebp can represent a time, which is a 32-bit number there.
  private func check(_ milliseconds: Int) throws {
    guard milliseconds <= Int32.max else {
      throw ImageError(message: "a WebP animation can last up to \(Int32.max / 1000) s")
    }
  }

  private var failure: ImageError {
    ImageError(message: WebPAnimEncoderGetError(encoder).map { String(cString: $0) } ?? "libwebp failed")
  }
}
