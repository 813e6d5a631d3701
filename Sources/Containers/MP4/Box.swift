/// Box of an ISO base media file.
package struct Box {
  package var type: String
  package var body: Range<Int>

  /// Maximum number of sibling boxes. The number is limited because an empty box takes 8 bytes in
  /// the file, but 48 in memory.
  fileprivate static let most = 1 << 20

  /// Reads the box header at `offset`; nil if there is no valid header, or if the box extends
  /// beyond `limit`.
  package init?(_ bytes: ArraySlice<UInt8>, at offset: Int, limit: Int) {
    let start = bytes.startIndex + offset
    guard start + 8 <= bytes.endIndex else { return nil }
    let array = Array(bytes[start..<min(start + 16, bytes.endIndex)])
    var size = array.integer(0)
    var header = 8
    if size == 1, array.count >= 16 {
      guard array.integer(8) < 1 << 30 else { return nil }
      size = array.integer(8) << 32 | array.integer(12)
      header = 16
    }
    if size == 0 { size = limit }
    guard size >= header, size <= limit else { return nil }
    type = array.text(4)
    body = header..<size
  }

  package static func all(in bytes: ArraySlice<UInt8>) -> [Box] {
    var found: [Box] = []
    var offset = 0
    while found.count < Box.most, let box = Box(bytes, at: offset, limit: bytes.count - offset) {
      var placed = box
      let base = bytes.startIndex + offset
      placed.body = base + box.body.lowerBound..<base + box.body.upperBound
      found.append(placed)
      offset += box.body.upperBound
    }
    return found
  }
}

extension [UInt8] {
  /// Finds the body of the first box at `path`, a list of nested box types, within `range`; nil if
  /// there is no such box.
  package func box(_ path: String..., in range: Range<Int>) -> Range<Int>? {
    path.reduce(range) { body, type in
      body.flatMap { body in Box.all(in: self[body]).first { $0.type == type }?.body }
    }
  }

  /// Reads the timescale in the body of an `mvhd` or `mdhd` box.
  package func timescale(_ body: Range<Int>) -> Int? {
    guard body.count >= 24 else { return nil }
    return integer(body.lowerBound + (self[body.lowerBound] == 1 ? 20 : 12))
  }
}

extension Box {
  /// Encodes the header of a box whose body has `size` bytes.
  package static func header(_ type: String, _ size: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: size + 8).bigEndian, Array.init) + Array(type.utf8)
  }
}

extension RandomAccessFile {
  /// Top-level boxes of the file.
  package var boxes: [Box] { boxes(in: 0..<size) }

  /// Returns the sibling boxes in `range`, which must be within the file.
  func boxes(in range: Range<Int>) -> [Box] {
    var found: [Box] = []
    var offset = range.lowerBound
    let end = range.upperBound
    while found.count < Box.most, offset + 8 <= end, let header = read(offset..<min(offset + 16, end)),
      var box = Box(header[...], at: 0, limit: end - offset)
    {
      box.body = offset + box.body.lowerBound..<offset + box.body.upperBound
      found.append(box)
      offset = box.body.upperBound
    }
    return found
  }
}
