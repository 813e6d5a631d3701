/// Block structure of a GIF (GIF89a, appendix B): the number of complete images, their end, and
/// damage.
package struct GIFBlocks: Sendable {
  /// True if the blocks end with the trailer, or with invalid bytes that no image follows.
  package private(set) var isWhole = false
  /// Number of complete images.
  package private(set) var images = 0
  /// Number of plays, from the Netscape extension; 0 for an endless loop.
  package private(set) var plays = 1
  /// Offset of the end of the last complete image.
  package private(set) var end = 0
  /// Offset of bytes that are not a valid block, although images seem to follow; nil without
  /// damage.
  package private(set) var brokenAt: Int?
  /// Estimated number of images that are damaged or follow ``brokenAt``.
  package private(set) var further = 0

  /// Reads the blocks of a file; nil if it is not a GIF.
  init?(_ file: RandomAccessFile) {
    guard let head = file.read(0..<min(13, file.size)), head.count >= 4, head.text(0) == "GIF8" else { return nil }
    guard head.count == 13 else { return }
    var place = 13 + GIFBlocks.colours(head[10])
    var before = (images: 0, end: 0)
    while let kind = file.number(at: place, 1) {
      switch kind {
      case 0x21:
        // The Netscape extension has the number of repetitions, so the number of plays is one more.
        if file.read(place + 3..<place + 14).map({ $0.elementsEqual("NETSCAPE2.0".utf8) }) ?? false,
          file.number(at: place + 15, 1) == 1,
          let repetitions = file.number(at: place + 16, 2, isLittleEndian: true)
        {
          plays = repetitions == 0 ? 0 : repetitions + 1
        }
        place += 2
      case 0x2C:
        guard let image = file.read(place..<place + 10) else { return }
        place += 11 + GIFBlocks.colours(image[9])
      case Int(GIFBlocks.trailer):
        isWhole = true
        return
      default:
        further = GIFBlocks.images(in: file, from: place)
        isWhole = further == 0
        guard !isWhole else { return }
        // The image before the invalid block is damaged, too, so it does not count as complete.
        if images > before.images { further += 1 }
        brokenAt = place
        (images, end) = before
        return
      }
      // Skip sub-blocks of up to 255 bytes each; an empty sub-block ends the block.
      var isOpen = true
      while isOpen {
        guard let size = file.number(at: place, 1) else { return }
        place += 1 + size
        isOpen = size > 0
      }
      if kind == 0x2C {
        before = (images, end)
        images += 1
        end = place
      }
    }
  }

  /// Estimates the number of images after `start` by counting their graphic control extensions
  /// (section 23).
  private static func images(in file: RandomAccessFile, from start: Int) -> Int {
    let (part, length) = (1 << 20, 9)
    return stride(from: start, to: file.size, by: part).reduce(0) { count, place in
      guard let bytes = file.read(place..<min(place + part + length - 1, file.size)) else { return count }
      return count
        + bytes.indices.dropLast(length - 1).count { place in
          bytes[place] == 0x21 && bytes[place + 1] == 0xF9 && bytes[place + 2] == 4 && bytes[place + 7] == 0
            && bytes[place + 8] == 0x2C
        }
    }
  }

  /// Returns the size in bytes of the colour table that `flags` declare; 0 if they declare none.
  private static func colours(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

  /// Last byte of a GIF (section 27).
  package static let trailer: UInt8 = 0x3B
}
