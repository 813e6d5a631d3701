import CImages
import Glibc
import Paths

/// Writer of an animated GIF (giflib).
package final class GIFFile {
  private var file: UnsafeMutablePointer<GifFileType>?
  private let palette: Palette
  private let width: Int
  private let height: Int

  /// Creates a file at `path`.
  /// - Parameter plays: number of times that players show the animation; 0 loops forever.
  package init(_ path: String, width: Int, height: Int, palette: Palette, plays: Int = 0) throws {
    guard (1...65_535).contains(width), (1...65_535).contains(height) else {
      throw ImageError(message: "a GIF can have up to 65535x65535 pixels, not \(width)x\(height)")
    }
    var status: Int32 = 0
    guard let file = EGifOpenFileName(path.cPath, false, &status) else { throw failure(status) }
    self.file = file
    self.palette = palette
    self.width = width
    self.height = height
    EGifSetGifVersion(file, true)
    // The size of a colour table is a power of two.
    var size = 2
    while size < palette.colors.count { size *= 2 }
    var colors = palette.colors.map { GifColorType(Red: $0.red, Green: $0.green, Blue: $0.blue) }
    colors += Array(repeating: GifColorType(Red: 0, Green: 0, Blue: 0), count: size - colors.count)
    guard let map = GifMakeMapObject(Int32(size), colors) else { throw ImageError(message: "no memory for a palette") }
    defer { GifFreeMapObject(map) }
    try check(EGifPutScreenDesc(file, Int32(width), Int32(height), 8, 0, map))
    guard plays != 1 else { return }
    // Netscape's extension declares the number of repetitions after the first play; 0 loops
    // forever.
    let repetitions = UInt16(clamping: max(plays - 1, 0))
    try check(EGifPutExtensionLeader(file, APPLICATION_EXT_FUNC_CODE))
    try check(EGifPutExtensionBlock(file, 11, "NETSCAPE2.0"))
    try check(EGifPutExtensionBlock(file, 3, [1, UInt8(repetitions & 0xFF), UInt8(repetitions >> 8)] as [UInt8]))
    try check(EGifPutExtensionTrailer(file))
  }

  deinit { if let file { EGifCloseFile(file, nil) } }

  /// Adds a frame. Writes only the area that changed, unless `isWhole`.
  ///
  /// - Parameters:
  ///   - values: palette indices, rows without padding.
  ///   - centiseconds: duration of the frame.
  ///   - isWhole: true to replace the whole previous frame, so that transparent pixels show the
  ///     background of the animation.
  package func add(_ values: [UInt8], centiseconds: Int, isWhole: Bool = false) throws {
    let area = isWhole ? (x: 0..<width, y: 0..<height) : changed(values)
    var control = GraphicsControlBlock(
      DisposalMode: isWhole ? DISPOSE_BACKGROUND : DISPOSE_DO_NOT, UserInputFlag: false,
      DelayTime: Int32(min(centiseconds, 65_535)),
      TransparentColor: Int32(palette.transparent))
    var extensionBytes: [UInt8] = [0, 0, 0, 0]
    EGifGCBToExtension(&control, &extensionBytes)
    try check(EGifPutExtension(file, GRAPHICS_EXT_FUNC_CODE, 4, extensionBytes))
    try check(
      EGifPutImageDesc(
        file, Int32(area.x.lowerBound), Int32(area.y.lowerBound), Int32(area.x.count), Int32(area.y.count), false, nil))
    for y in area.y {
      var row = Array(values[y * width + area.x.lowerBound..<y * width + area.x.upperBound])
      try check(EGifPutLine(file, &row, Int32(row.count)))
    }
  }

  /// Returns the smallest rectangle that contains all changed pixels, which are the pixels that are
  /// not transparent; one pixel if nothing changed.
  private func changed(_ values: [UInt8]) -> (x: Range<Int>, y: Range<Int>) {
    var (left, right, top, bottom) = (width, -1, height, -1)
    for y in 0..<height {
      let row = values[y * width..<(y + 1) * width]
      guard let first = row.firstIndex(where: { $0 != palette.transparent }),
        let last = row.lastIndex(where: { $0 != palette.transparent })
      else { continue }
      left = min(left, first - y * width)
      right = max(right, last - y * width)
      top = min(top, y)
      bottom = y
    }
    return right < 0 ? (0..<1, 0..<1) : (left..<right + 1, top..<bottom + 1)
  }

  /// Finishes the file.
  package func close() throws {
    guard let file else { return }
    self.file = nil
    var status: Int32 = 0
    guard EGifCloseFile(file, &status) == GIF_OK else { throw failure(status) }
  }

  private func check(_ status: Int32) throws {
    guard status == GIF_OK else { throw failure(file?.pointee.Error ?? 0) }
  }
}

private func failure(_ status: Int32) -> ImageError {
  let reason = errno
  // Compare modulo 200: giflib 6 adds 200 to the error numbers of giflib 5, and this program may
  // run with either, because both are libgif.so.7.
  let ofWriting = [E_GIF_ERR_OPEN_FAILED, E_GIF_ERR_WRITE_FAILED, E_GIF_ERR_CLOSE_FAILED].map { $0 % 200 }
  if ofWriting.contains(status % 200) {
    return ImageError(message: String(cString: strerror(reason)), isWriting: true)
  }
  return ImageError(message: GifErrorString(status).map { String(cString: $0) } ?? "giflib failed with \(status)")
}
