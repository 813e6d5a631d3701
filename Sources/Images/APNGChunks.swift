import CImages

/// Converts PNG files, one per frame, into the PNG chunks of an animated PNG.
///
/// PNG, third edition, sections 4.9 and 11.3.6: an APNG is a PNG in which the frames after the
/// first one have their compressed pixels in `fdAT` chunks instead of `IDAT`. An `fcTL` chunk
/// before each frame declares the frame's duration.
package struct APNGChunks {
  private var sequence: UInt32 = 0
  private let plays: Int

  /// - Parameter plays: number of times that players show the animation; 0 loops forever.
  package init(plays: Int = 0) { self.plays = plays }

  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// Returns the bytes to write for a frame.
  /// - Parameters:
  ///   - png: the frame as a PNG file; all frames must have the same size and format.
  ///   - milliseconds: duration of the frame.
  package mutating func frame(_ png: UnsafeRawBufferPointer, milliseconds: Int) throws -> [UInt8] {
    var output: [UInt8] = sequence == 0 ? APNGChunks.signature : []
    let isFirst = sequence == 0
    var hasControl = false
    for (type, body) in try APNGChunks.chunks(of: png) {
      switch type {
      case "IHDR" where isFirst:
        output += APNGChunks.chunk(type, body)
        output += count(0)
      case "IDAT":
        if !hasControl {
          hasControl = true
          output += control(try APNGChunks.chunks(of: png).first?.body ?? [], milliseconds)
        }
        output += isFirst ? APNGChunks.chunk("IDAT", body) : APNGChunks.chunk("fdAT", bigEndian(next()) + body)
      case "IEND", "IHDR":
        break
      default:
        // Other PNG chunks, such as the colour space, apply to the whole file, so write them once,
        // before the first pixels.
        if isFirst && !hasControl { output += APNGChunks.chunk(type, body) }
      }
    }
    return output
  }

  /// Bytes to write after the last frame.
  package static let end = chunk("IEND", [])

  /// Returns the bytes to write at ``countOffset`` once the number of frames is known.
  package func count(_ frames: Int) -> [UInt8] {
    APNGChunks.chunk("acTL", bigEndian(UInt32(clamping: frames)) + bigEndian(UInt32(clamping: plays)))
  }
  /// Position of the `acTL` chunk, which comes after the signature and the `IHDR` chunk.
  package static let countOffset = 8 + 25

  private mutating func next() -> UInt32 {
    defer { sequence += 1 }
    return sequence
  }

  private mutating func control(_ header: [UInt8], _ milliseconds: Int) -> [UInt8] {
    let size = Array(header.prefix(8))
    let offset = [UInt8](repeating: 0, count: 8)
    let (numerator, denominator) = APNGChunks.delay(milliseconds)
    let delay = bigEndian(UInt32(clamping: numerator) << 16 | UInt32(clamping: denominator))
    // The last two bytes are APNG_DISPOSE_OP_NONE and APNG_BLEND_OP_SOURCE.
    return APNGChunks.chunk("fcTL", bigEndian(next()) + size + offset + delay + [0, 0])
  }

  /// Longest duration of a frame, in milliseconds.
  package static let longest = 65_535_000

  /// Returns a duration as a fraction of seconds with 16-bit numbers, as `fcTL` stores it. Up to
  /// 65.535 s, the fraction is exact to the millisecond; above, it is the nearest possible one.
  package static func delay(_ milliseconds: Int) -> (numerator: Int, denominator: Int) {
    let milliseconds = min(max(milliseconds, 0), longest)
    guard milliseconds > 65_535 else { return (milliseconds, 1000) }
    // Distance of `milliseconds * denominator` from a whole numerator, in thousandths.
    func error(_ denominator: Int) -> Int {
      let rest = milliseconds * denominator % 1000
      return min(rest, 1000 - rest)
    }
    let denominators = 1...max(longest / milliseconds, 1)
    let best = denominators.min { error($0) * $1 < error($1) * $0 } ?? 1
    return ((milliseconds * best + 500) / 1000, best)
  }

  /// Returns the PNG chunks of a complete file.
  static func chunks(of png: UnsafeRawBufferPointer) throws -> [(type: String, body: [UInt8])] {
    let found = whole(in: png)
    guard found.end != nil else { throw ImageError(message: "the PNG encoder produced no complete file") }
    return found.chunks
  }

  /// Returns the complete PNG chunks, and the byte position after `IEND`. The position is nil if
  /// the file is truncated.
  static func whole(in png: UnsafeRawBufferPointer) -> (chunks: [(type: String, body: [UInt8])], end: Int?) {
    var found: [(String, [UInt8])] = []
    var place = signature.count
    while place + 12 <= png.count {
      let length = Int(png.loadUnaligned(fromByteOffset: place, as: UInt32.self).bigEndian)
      guard place + 12 + length <= png.count else { break }
      let type = String(decoding: png[place + 4..<place + 8], as: UTF8.self)
      found.append((type, Array(png[place + 8..<place + 8 + length])))
      place += 12 + length
      if type == "IEND" { return (found, place) }
    }
    return (found, nil)
  }

  static func chunk(_ type: String, _ body: [UInt8]) -> [UInt8] {
    let named = Array(type.utf8) + body
    return bigEndian(UInt32(clamping: body.count)) + named
      + bigEndian(UInt32(truncatingIfNeeded: crc32(0, named, uInt(named.count))))
  }
}

private func bigEndian(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
