/// Element of an EBML document (RFC 8794).
package struct EBMLElement {
  package let id: UInt32
  package var bytes: [UInt8]
  /// Minimum number of bytes for the length field when the element is encoded.
  private var lengthSize: Int

  /// Creates an EBML element that contains an unsigned integer in the fewest possible bytes.
  package init(id: UInt32, number: Int) {
    let digits = withUnsafeBytes(of: UInt64(number).bigEndian, Array.init)
    self.init(id: id, bytes: Array(digits.drop { $0 == 0 }.isEmpty ? [0] : digits.drop { $0 == 0 }))
  }

  package init(id: UInt32, bytes: [UInt8]) { self.init(id: id, bytes: bytes, lengthSize: 1) }

  private init(id: UInt32, bytes: [UInt8], lengthSize: Int) {
    self.id = id
    self.bytes = bytes
    self.lengthSize = lengthSize
  }

  /// Body of the EBML element as an unsigned integer. Only its last seven bytes are used.
  package var number: Int64 { bytes.suffix(7).reduce(0) { $0 << 8 | Int64($1) } }

  /// Body of the EBML element as a floating point number of four or eight bytes (RFC 8794, 7.3);
  /// nil for other lengths.
  package var float: Double? {
    switch bytes.count {
    case 4: Double(Float(bitPattern: UInt32(bytes.integer(0))))
    case 8: Double(bitPattern: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    default: nil
    }
  }

  /// Maximum number of sibling elements. The number is limited because an empty EBML element takes
  /// two bytes in the file, but many more in memory.
  fileprivate static let most = 1 << 20

  /// Reads the EBML elements in the body of a master element. Ignores an incomplete EBML element at
  /// the end.
  package static func all(in bytes: [UInt8]) -> [EBMLElement] {
    var found: [EBMLElement] = []
    var place = 0
    while found.count < most, let header = header(in: bytes[place...]),
      place + header.size + header.length <= bytes.count
    {
      let body = place + header.size
      found.append(
        EBMLElement(
          id: header.id, bytes: Array(bytes[body..<body + header.length]), lengthSize: header.lengthSize))
      place = body + header.length
      if place >= bytes.count { break }
    }
    return found
  }

  /// Reads the header of an EBML element: identifier and body length. `size` is the encoded size of
  /// both in bytes; `lengthSize` is the encoded size of the length alone. Nil if the header is not
  /// valid, or if the length is unknown.
  package static func header(in bytes: ArraySlice<UInt8>) -> (id: UInt32, length: Int, size: Int, lengthSize: Int)? {
    guard let first = bytes.first, first != 0 else { return nil }
    let idSize = first.leadingZeroBitCount + 1
    guard idSize <= 4, bytes.count > idSize else { return nil }
    let id = bytes.prefix(idSize).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let rest = bytes.dropFirst(idSize)
    guard let second = rest.first, second != 0 else { return nil }
    let lengthSize = second.leadingZeroBitCount + 1
    guard rest.count >= lengthSize else { return nil }
    let mask = UInt64(1) << UInt64(7 * lengthSize) - 1
    let value = rest.prefix(lengthSize).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & mask
    guard value != mask, value < 1 << 56 else { return nil }
    return (id, Int(value), idSize + lengthSize, lengthSize)
  }

  /// Returns the size in bytes of the header of a Matroska segment or cluster of unknown length;
  /// nil for any other bytes.
  static func unknownLength(_ bytes: [UInt8]) -> Int? {
    guard bytes.count > 4, let second = bytes.dropFirst(4).first, second != 0 else { return nil }
    let id = UInt32(bytes.integer(0))
    return id == MatroskaID.segment || id == MatroskaID.cluster ? 4 + second.leadingZeroBitCount + 1 : nil
  }

  package var encoded: [UInt8] {
    var size = lengthSize
    while size < 8, bytes.count >= 1 << (7 * size) - 1 { size += 1 }
    let length = UInt64(bytes.count) | 1 << UInt64(7 * size)
    let name = withUnsafeBytes(of: id.bigEndian, Array.init).drop { $0 == 0 }
    let written = withUnsafeBytes(of: length.bigEndian, Array.init).suffix(size)
    return name + written + bytes
  }

  /// Encodes the EBML element in exactly `size` bytes; a `Void` element (RFC 8794, 11.3.2) fills
  /// the space after it. Nil if the EBML element does not fit.
  package func encoded(in size: Int) -> [UInt8]? {
    // A `Void` element takes at least two bytes. A single spare byte goes to the length field.
    (1...8).lazy.map { EBMLElement(id: id, bytes: bytes, lengthSize: $0).encoded }
      .first { $0.count == size || $0.count + 2 <= size }
      .map { $0 + EBMLElement.void(size - $0.count) }
  }

  /// Encodes a `Void` element of `size` bytes in total: `size` is 0, or at least 2.
  private static func void(_ size: Int) -> [UInt8] {
    guard size >= 2 else { return [] }
    let lengthSize = size < 128 ? 1 : 4
    let body = size - 1 - lengthSize
    let length = withUnsafeBytes(of: (UInt32(body) | (lengthSize == 4 ? 0x1000_0000 : 0x80)).bigEndian, Array.init)
    return [0xEC] + length.suffix(lengthSize) + [UInt8](repeating: 0, count: body)
  }
}

extension RandomAccessFile {
  /// Returns the EBML elements in `range`, the body of a master element. Stops at the first EBML
  /// element of unknown length.
  /// - Parameter last: identifier of the EBML element to stop after; nil for no limit.
  package func elements(in range: Range<Int>, upTo last: UInt32? = nil) -> [(id: UInt32, body: Range<Int>)] {
    var found: [(id: UInt32, body: Range<Int>)] = []
    _ = forEachElement(in: range) { id, body in
      found.append((id, body))
      return id != last
    }
    return found
  }

  /// Calls `visit` with each EBML element in `range`, the body of a master element, until `visit`
  /// returns false. Stops at the first EBML element of unknown length.
  /// - Returns: true if the EBML elements fill `range`, and `visit` returned true for all of them.
  func forEachElement(in range: Range<Int>, _ visit: (_ id: UInt32, _ body: Range<Int>) -> Bool) -> Bool {
    var place = range.lowerBound
    for _ in 0..<EBMLElement.most {
      guard place < range.upperBound, let bytes = read(place..<min(place + 12, size)),
        let header = EBMLElement.header(in: bytes[...]), place + header.size + header.length <= size
      else { break }
      guard visit(header.id, place + header.size..<place + header.size + header.length) else { return false }
      place += header.size + header.length
    }
    return place == range.upperBound && !range.isEmpty
  }
}
