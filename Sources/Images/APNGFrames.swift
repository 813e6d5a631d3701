import CImages

/// Frames of an animated PNG, each as a separate PNG file with its position on the canvas and its
/// disposal (PNG, third edition, 11.3.6).
package struct APNGFrames {
  package struct Frame {
    /// Compressed pixels.
    fileprivate var data: [UInt8]
    /// Contents of the frame's PNG file before the pixels: the bytes of the header after width and
    /// height, and the PNG chunks that all frames share.
    fileprivate var form: (header: [UInt8], common: [UInt8])
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int
    /// Duration of the frame.
    package var milliseconds: Double
    /// Treatment of the frame's area after the frame was shown: 0 keeps the area, 1 clears it, 2
    /// restores the area's earlier pixels.
    package var disposal: UInt8
    /// True if the frame is blended over the canvas; false if it replaces its area of the canvas.
    package var blends: Bool

    /// Complete PNG file.
    package var png: [UInt8] {
      let size =
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: width).bigEndian, Array.init)
        + withUnsafeBytes(of: UInt32(truncatingIfNeeded: height).bigEndian, Array.init)
      return APNGChunks.signature + APNGChunks.chunk("IHDR", size + form.header) + form.common
        + APNGChunks.chunk("IDAT", data) + APNGChunks.end
    }
  }

  package let width: Int
  package let height: Int
  /// Complete frames. The list ends before the first frame that exceeds the canvas.
  package private(set) var frames: [Frame] = []
  /// Number of frames that `acTL` declares.
  package let promised: Int
  /// Number of plays; 0 loops forever.
  package let plays: Int
  /// True if the file ends before the PNG chunk `IEND`.
  package let isCut: Bool
  /// Byte offset of another PNG file that is appended to this one; nil if none is appended.
  package let next: Int?

  /// True if a file with these first bytes is a PNG, animated or not.
  package static func isPNG(_ start: [UInt8]) -> Bool { start.starts(with: APNGChunks.signature) }

  /// Maximum width and height of a canvas, as in WebP. Without a limit, a tiny file could allocate
  /// all memory.
  private static let longest = 16_383

  /// Reads the size of the canvas from the first bytes of a file; nil if the file is not a PNG, or
  /// a side exceeds `longest`.
  package static func canvas(_ start: [UInt8]) -> (width: Int, height: Int)? {
    guard isPNG(start), start.count >= 24 else { return nil }
    func word(_ place: Int) -> Int { start[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    let (width, height) = (word(16), word(20))
    return (1...longest).contains(width) && (1...longest).contains(height) ? (width, height) : nil
  }

  /// True if a PNG is animated: `acTL` comes before the first pixels.
  /// - Parameter read: reads bytes of the file; returns nil if the file is shorter.
  package static func isAnimated(_ read: (Range<Int>) -> [UInt8]?) -> Bool {
    var place = APNGChunks.signature.count
    // Limit the search, because no real file has more than 1000 PNG chunks before the pixels.
    for _ in 0..<1000 {
      guard let start = read(place..<place + 8) else { return false }
      switch String(decoding: start[4...], as: UTF8.self) {
      case "acTL": return true
      case "IDAT": return false
      default: place += 12 + start[..<4].reduce(0) { $0 << 8 | Int($1) }
      }
    }
    return false
  }

  /// - Returns: nil if `bytes` are not an animated PNG.
  package init?(_ bytes: [UInt8]) {
    let (chunks, end) = bytes.withUnsafeBytes { APNGChunks.whole(in: $0) }
    guard bytes.starts(with: APNGChunks.signature), let header = chunks.first, header.type == "IHDR",
      header.body.count == 13,
      let control = chunks.firstIndex(where: { $0.type == "acTL" && $0.body.count == 8 }),
      control < chunks.firstIndex(where: { $0.type == "IDAT" }) ?? 0
    else { return nil }
    isCut = end == nil
    next = end.flatMap { APNGFrames.isPNG(Array(bytes[$0...].prefix(8))) ? $0 : nil }
    func word(_ body: [UInt8], _ place: Int) -> Int { body[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
    width = word(header.body, 0)
    height = word(header.body, 4)
    promised = word(chunks[control].body, 0)
    plays = word(chunks[control].body, 4)
    guard (1...APNGFrames.longest).contains(width), (1...APNGFrames.longest).contains(height) else { return nil }
    // Palette, transparency and colour space apply to every frame.
    let common = chunks[..<(chunks.firstIndex { $0.type == "IDAT" } ?? 0)].filter {
      !["IHDR", "acTL", "fcTL"].contains($0.type)
    }
    let form = (header: Array(header.body[8...]), common: common.flatMap { APNGChunks.chunk($0.type, $0.body) })
    var open: Frame?
    func close() -> Frame? { open.flatMap { $0.data.isEmpty ? nil : $0 } }
    for (type, body) in chunks {
      switch type {
      case "fcTL" where body.count >= 26:
        if let frame = close() { frames.append(frame) }
        let (numerator, denominator) = (Int(body[20]) << 8 | Int(body[21]), Int(body[22]) << 8 | Int(body[23]))
        open = Frame(
          data: [], form: form, x: word(body, 12), y: word(body, 16), width: word(body, 4), height: word(body, 8),
          milliseconds: Double(numerator) * 1000 / Double(denominator == 0 ? 100 : denominator), disposal: body[24],
          blends: body[25] == 1)
      case "IDAT": open?.data += body
      case "fdAT" where body.count > 4: open?.data += body.dropFirst(4)
      default: break
      }
    }
    // If the file is truncated, leave out the last frame, because it may be incomplete.
    if !isCut, let frame = close() { frames.append(frame) }
    let (width, height) = (width, height)
    frames = Array(frames.prefix { $0.x + $0.width <= width && $0.y + $0.height <= height })
  }

  /// Draws the pixels of a frame on the canvas. Frame and canvas are RGBA with straight alpha.
  package static func draw(_ pixels: [UInt8], of frame: Frame, on canvas: inout [UInt8], width: Int) {
    for y in 0..<frame.height {
      for x in 0..<frame.width {
        let source = (y * frame.width + x) * 4
        let target = ((frame.y + y) * width + frame.x + x) * 4
        let alpha = Int(pixels[source + 3])
        if !frame.blends || alpha == 255 {
          for part in 0..<4 { canvas[target + part] = pixels[source + part] }
        } else if alpha > 0 {
          let below = Int(canvas[target + 3]) * (255 - alpha) / 255
          for part in 0..<3 {
            canvas[target + part] = UInt8(
              (Int(pixels[source + part]) * alpha + Int(canvas[target + part]) * below) / max(alpha + below, 1))
          }
          canvas[target + 3] = UInt8(alpha + below)
        }
      }
    }
  }

  /// Clears the area of a frame.
  package static func clear(_ frame: Frame, on canvas: inout [UInt8], width: Int) {
    for y in frame.y..<frame.y + frame.height {
      for place in (y * width + frame.x) * 4..<(y * width + frame.x + frame.width) * 4 { canvas[place] = 0 }
    }
  }
}
