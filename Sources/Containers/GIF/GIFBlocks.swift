/// The blocks of a GIF (GIF89a, appendix B): where its last whole image ends, and whether the file does after that.
package struct GIFBlocks: Sendable {
  /// Whether the trailer is there, or something that only a decoder may judge.
  package private(set) var isWhole = false
  /// How many images are whole.
  package private(set) var images = 0
  /// Where the last whole image ends, in bytes.
  package private(set) var end = 0

  /// nil where it is no GIF.
  init?(_ file: RandomAccessFile) {
    guard let head = file.read(0..<min(13, file.size)), head.count >= 4, head.text(0) == "GIF8" else { return nil }
    guard head.count == 13 else { return }
    var place = 13 + GIFBlocks.colours(head[10])
    while let kind = file.number(at: place, 1) {
      switch kind {
      case 0x21: place += 2
      case 0x2C:
        guard let image = file.read(place..<place + 10) else { return }
        place += 11 + GIFBlocks.colours(image[9])
      default:
        isWhole = true
        return
      }
      // Parts of up to 255 bytes, the last of which has none.
      var isOpen = true
      while isOpen {
        guard let size = file.number(at: place, 1) else { return }
        place += 1 + size
        isOpen = size > 0
      }
      if kind == 0x2C {
        images += 1
        end = place
      }
    }
  }

  /// The bytes of a table of colours.
  private static func colours(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }

  /// What a GIF ends with (27).
  package static let trailer: UInt8 = 0x3B
}
