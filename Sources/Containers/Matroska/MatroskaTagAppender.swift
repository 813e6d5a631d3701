/// Appends tags to a finished file of matroskamux. Relies on the lengths of eight bytes that
/// matroskamux writes.
struct MatroskaTagAppender {
  private let file: RandomAccessFile
  private let segment: Range<Int>
  private let parts: [(id: UInt32, body: Range<Int>)]

  /// - Parameter parts: EBML elements of the Matroska segment in file order.
  init(_ file: RandomAccessFile, _ segment: Range<Int>, _ parts: [(id: UInt32, body: Range<Int>)]) {
    (self.file, self.segment, self.parts) = (file, segment, parts)
  }

  /// Appends `added` to the tags of the file.
  /// - Returns: false if the tags cannot be added: a length does not have eight bytes, the Matroska
  ///   segment does not end with the file, or the `SeekHead` is full.
  /// - Throws: ``FileError``.
  func append(_ added: [EBMLElement]) throws -> Bool {
    guard let last = parts.last, segment.upperBound == file.size, last.body.upperBound == file.size,
      hasLongLength(segment)
    else { return false }
    var tags = added.flatMap(\.encoded)
    var place = file.size
    if last.id == MatroskaID.tags, last.body.count < 1 << 24 {
      guard hasLongLength(last.body), let bytes = file.read(last.body) else { return false }
      tags = bytes + tags
      // `place` is the offset of the identifier: its four bytes and the eight bytes of the length
      // precede the body.
      place = last.body.lowerBound - 12
    } else {
      guard try index(MatroskaID.tags, at: place - segment.lowerBound) else { return false }
    }
    let element = [UInt8].big(MatroskaID.tags) + long(tags.count) + tags
    guard file.write(element, at: place),
      file.write(long(place + element.count - segment.lowerBound), at: segment.lowerBound - 8)
    else { throw FileError.last }
    return true
  }

  /// True if the length before `body` takes eight bytes.
  private func hasLongLength(_ body: Range<Int>) -> Bool {
    file.read(body.lowerBound - 8..<body.lowerBound - 7) == [1]
  }

  private func long(_ value: Int) -> [UInt8] { .big(UInt64(value) | 1 << 56) }

  /// Adds the position of an EBML element to the `SeekHead`. The entry replaces a `Void` element,
  /// with which matroskamux reserves space for the entry of the tags.
  /// - Parameter position: offset of the EBML element from the start of the segment body.
  /// - Returns: false if there is no `Void` element with room for the entry.
  private func index(_ id: UInt32, at position: Int) throws -> Bool {
    guard let list = parts.first(where: { $0.id == MatroskaID.seekHead }), let bytes = file.read(list.body) else {
      return false
    }
    let entry = EBMLElement(
      id: MatroskaID.seek,
      of: [
        EBMLElement(id: MatroskaID.seekID, bytes: .big(id)),
        EBMLElement(id: MatroskaID.seekPosition, bytes: .big(UInt64(position))),
      ])
    let entries = EBMLElement.all(in: bytes)
    for (number, free) in entries.enumerated().reversed() where free.id == MatroskaID.void {
      guard let encoded = entry.encoded(in: free.encoded.count) else { continue }
      let changed = entries[..<number].flatMap(\.encoded) + encoded + entries[(number + 1)...].flatMap(\.encoded)
      guard file.write(changed, at: list.body.lowerBound) else { throw FileError.last }
      return true
    }
    return false
  }
}
