import CImages

/// Restores the frames that WebPAnimEncoder merged. The encoder extends a frame if the next one
/// looks the same, and writes a still image if only one frame remains, so the number and the times
/// of the frames would be lost.
///
/// For each omitted frame, this splitter adds a fully transparent frame, which is blended over the
/// canvas. The encoder does the same if a frame lasts too long (`IncreasePreviousDuration` in
/// libwebp's anim_encode.c).
struct WebPFrameSplitter {
  let width: Int
  let height: Int
  /// Number of times that players show the animation; 0 loops forever.
  let plays: Int
  /// True to keep a still image if there is only one frame.
  let isStill: Bool

  /// - Parameters:
  ///   - data: the encoder's output.
  ///   - durations: duration of each frame, in milliseconds.
  ///   - body: receives the bytes of the file.
  func split(_ data: WebPData, _ durations: [Int], _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var given = data
    guard let source = WebPMuxCreate(&given, 0) else { throw failure }
    defer { WebPMuxDelete(source) }
    var count: Int32 = 0
    try check(WebPMuxNumChunks(source, WEBP_CHUNK_ANMF, &count))
    guard count < durations.count, durations.count > 1 || !isStill else {
      return try body(UnsafeRawBufferPointer(start: data.bytes, count: data.size))
    }
    if durations.count == 1 {
      var frame = WebPMuxFrameInfo()
      try check(WebPMuxGetFrame(source, 1, &frame))
      defer { WebPDataClear(&frame.bitstream) }
      return try animation(of: frame.bitstream, milliseconds: durations[0]).withUnsafeBytes(body)
    }
    guard let target = WebPMuxNew() else { throw failure }
    defer { WebPMuxDelete(target) }
    try check(WebPMuxSetCanvasSize(target, Int32(width), Int32(height)))
    var parameters = WebPMuxAnimParams()
    if count > 0 { try check(WebPMuxGetAnimationParams(source, &parameters)) }
    parameters.loop_count = Int32(clamping: plays)
    try check(WebPMuxSetAnimationParams(target, &parameters))
    var remaining = durations[...]
    for number in 1...UInt32(max(count, 1)) {
      var frame = WebPMuxFrameInfo()
      try check(WebPMuxGetFrame(source, number, &frame))
      defer { WebPDataClear(&frame.bitstream) }
      // A still image has no duration, so its frame gets the duration of the whole animation.
      if count == 0 { (frame.id, frame.duration) = (WEBP_CHUNK_ANMF, Int32(clamping: durations.reduce(0, +))) }
      try add(frame, to: target, &remaining)
    }
    var made = WebPData()
    WebPDataInit(&made)
    defer { WebPDataClear(&made) }
    try check(WebPMuxAssemble(target, &made))
    try body(UnsafeRawBufferPointer(start: made.bytes, count: made.size))
  }

  /// Returns the file of an animation with one frame (RFC 9649, 2.7). libwebp can't write it: its
  /// muxer turns such an animation into a still image (`MuxCleanup` in libwebp's muxedit.c).
  /// - Parameter image: file with the frame as a still image.
  private func animation(of image: WebPData, milliseconds: Int) throws -> [UInt8] {
    var features = WebPBitstreamFeatures()
    guard let start = image.bytes, WebPGetFeatures(start, image.size, &features) == VP8_STATUS_OK else { throw failure }
    let bytes = Array(UnsafeBufferPointer(start: start, count: image.size))
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
      let padding = [UInt8](repeating: 0, count: body.count % 2)
      return Array(type.utf8) + number(body.count, 4) + body + padding
    }
    // The frame's chunks follow the header of RIFF (12 bytes), and VP8X (18 bytes) if present.
    let isExtended = bytes.dropFirst(12).starts(with: "VP8X".utf8)
    let size = number(width - 1, 3) + number(height - 1, 3)
    // Flags of VP8X: 2 is animation, 16 is transparency. The frame's flag 2 turns blending off.
    let header: [UInt8] = [features.has_alpha != 0 ? 18 : 2, 0, 0, 0]
    var frame = number(0, 6) + size + number(milliseconds, 3)
    frame.append(2)
    frame += bytes.dropFirst(isExtended ? 30 : 12)
    var contents = Array("WEBP".utf8)
    contents += chunk("VP8X", header + size)
    contents += chunk("ANIM", number(0, 4) + number(plays, 2))
    contents += chunk("ANMF", frame)
    return chunk("RIFF", contents)
  }

  /// Adds a frame of the encoder's output, and a transparent frame for each further original frame
  /// that the encoder merged into that output frame.
  /// - Parameter remaining: durations of the original frames that are not yet written. If the
  ///   encoder's previous frame already shows the beginning of the first of these frames, the first
  ///   duration is only the remainder.
  private func add(_ frame: WebPMuxFrameInfo, to target: OpaquePointer, _ remaining: inout ArraySlice<Int>) throws {
    var (shown, left) = (frame, Int(frame.duration))
    var cover: WebPData?
    defer { if var cover { WebPDataClear(&cover) } }
    repeat {
      let own = min(remaining.first ?? left, left)
      left -= own
      if let first = remaining.first {
        remaining[remaining.startIndex] = first - own
        if first == own { remaining.removeFirst() }
      }
      shown.duration = Int32(clamping: own)
      // Keep the canvas until the last of the merged frames ends.
      shown.dispose_method = left > 0 ? WEBP_MUX_DISPOSE_NONE : frame.dispose_method
      try check(WebPMuxPushFrame(target, &shown, 1))
      if left > 0 {
        let next = try cover ?? invisible(like: frame.bitstream)
        cover = next
        shown.bitstream = next
        shown.blend_method = WEBP_MUX_BLEND
      }
    } while left > 0
  }

  /// Creates a fully transparent image of the same size as `other`.
  private func invisible(like other: WebPData) throws -> WebPData {
    var features = WebPBitstreamFeatures()
    var (config, image) = (WebPConfig(), WebPPicture())
    guard WebPGetFeatures(other.bytes, other.size, &features) == VP8_STATUS_OK, WebPConfigInit(&config) != 0,
      WebPPictureInit(&image) != 0
    else { throw failure }
    config.lossless = 1
    (image.width, image.height, image.use_argb) = (features.width, features.height, 1)
    defer { WebPPictureFree(&image) }
    guard WebPPictureAlloc(&image) != 0 else { throw failure }
    for row in 0..<Int(image.height) {
      image.argb.advanced(by: row * Int(image.argb_stride)).update(repeating: 0, count: Int(image.width))
    }
    var writer = WebPMemoryWriter()
    WebPMemoryWriterInit(&writer)
    image.writer = WebPMemoryWrite
    let isMade = withUnsafeMutablePointer(to: &writer) { writer in
      image.custom_ptr = UnsafeMutableRawPointer(writer)
      return WebPEncode(&config, &image) != 0
    }
    guard isMade else {
      WebPMemoryWriterClear(&writer)
      throw failure
    }
    return WebPData(bytes: writer.mem, size: writer.size)
  }

  private func check(_ status: WebPMuxError) throws { guard status == WEBP_MUX_OK else { throw failure } }

  private var failure: ImageError { ImageError(message: "libwebp can't combine the frames of a WebP animation") }
}
