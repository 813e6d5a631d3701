import GStreamer
import RetrogradeEngine

/// Puts right in a finished Matroska or WebM file what GStreamer 1.22's matroskamux writes wrong or not at all. No byte of the
/// file moves: what becomes shorter is followed by a `Void` element (RFC 8794, 11.3.2).
///
/// - Text in tags is written as GStreamer serialises values, in quotes and with backslashes, which other programs show.
/// - Tracks without a name are called "Video", "Audio", "Subtitle".
/// - Interlaced video lacks the order of its fields (`FieldOrder`, RFC 9559, 5.1.4.1.28.3).
struct MatroskaHeader {
  /// Of each video track, in order: which field of its frames comes first; nil where that is not to be said.
  var fieldOrders: [FieldOrder?]

  enum FieldOrder: UInt8 {
    case topFirst = 1
    case bottomFirst = 6

    init(isTopFieldFirst: Bool) { self = isTopFieldFirst ? .topFirst : .bottomFirst }
  }

  private enum ID {
    static let segment: UInt32 = 0x1853_8067
    static let tracks: UInt32 = 0x1654_AE6B
    static let tags: UInt32 = 0x1254_C367
    static let tag: UInt32 = 0x7373
    static let simpleTag: UInt32 = 0x67C8
    static let tagString: UInt32 = 0x4487
    static let trackEntry: UInt32 = 0xAE
    static let name: UInt32 = 0x536E
    static let video: UInt32 = 0xE0
    static let interlaced: UInt32 = 0x9A
    static let fieldOrder: UInt32 = 0x9D
  }

  private static let madeUpNames = Set(["Video", "Audio", "Subtitle"].map { Array($0.utf8) })

  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  func apply(to path: String) throws {
    guard let file = MovieFile(path, forWriting: true) else {
      throw RetrogradeError(.inputOutput, "\(path): can't be finished")
    }
    guard let segment = file.elements(in: 0..<file.size).first(where: { $0.id == ID.segment }) else { return }
    for part in file.elements(in: segment.body) {
      guard [ID.tracks, ID.tags].contains(part.id), part.body.count < 1 << 24, let bytes = file.read(part.body) else {
        continue
      }
      let changed = part.id == ID.tags ? tags(bytes) : tracks(bytes)
      if changed.count == bytes.count, changed != bytes, !file.write(changed, at: part.body.lowerBound) {
        throw RetrogradeError(.inputOutput, "\(path): can't be finished")
      }
    }
  }

  private func tags(_ bytes: [UInt8]) -> [UInt8] {
    rewritten(bytes) { tag in
      guard tag.id == ID.tag else { return nil }
      return rewritten(tag.bytes) { simple in
        guard simple.id == ID.simpleTag else { return nil }
        var parts = EBMLElement.all(in: simple.bytes)
        for index in parts.indices where parts[index].id == ID.tagString {
          guard let text = MatroskaHeader.unquoted(parts[index].bytes) else { continue }
          let before = parts[index].encoded.count
          parts[index].bytes = text
          parts[index].padding = before - parts[index].encoded.count
        }
        return parts.flatMap(\.encoded)
      }
    }
  }

  /// The text that GStreamer serialised; nil where it is not in quotes.
  private static func unquoted(_ bytes: [UInt8]) -> [UInt8]? {
    let bytes = text(bytes)
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return nil }
    return GStreamer.unquoted(String(decoding: bytes, as: UTF8.self)).map { Array($0.utf8) }
  }

  /// Text may end in zeros.
  private static func text(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.prefix { $0 != 0 }) }

  private func tracks(_ bytes: [UInt8]) -> [UInt8] {
    var orders = fieldOrders[...]
    return rewritten(bytes) { track in
      guard track.id == ID.trackEntry else { return nil }
      var parts = EBMLElement.all(in: track.bytes)
      let order = parts.contains { $0.id == ID.video } ? orders.popFirst() ?? nil : nil
      parts.removeAll { $0.id == ID.name && MatroskaHeader.madeUpNames.contains(MatroskaHeader.text($0.bytes)) }
      if let order, let place = parts.firstIndex(where: { $0.id == ID.video }) {
        var inner = EBMLElement.all(in: parts[place].bytes)
        inner.removeAll { [ID.interlaced, ID.fieldOrder].contains($0.id) }
        inner += [
          EBMLElement(id: ID.interlaced, bytes: [1]), EBMLElement(id: ID.fieldOrder, bytes: [order.rawValue]),
        ]
        parts[place].bytes = inner.flatMap(\.encoded)
      }
      return parts.flatMap(\.encoded)
    }
  }

  /// The elements of a master, each with what `change` makes of its body, if anything. One that would become longer, or
  /// shorter by the one byte that can't be filled, stays as it is.
  private func rewritten(_ bytes: [UInt8], _ change: (EBMLElement) -> [UInt8]?) -> [UInt8] {
    EBMLElement.all(in: bytes).flatMap { element -> [UInt8] in
      guard let body = change(element), body.count <= element.bytes.count else { return element.encoded }
      let rest = element.bytes.count - body.count
      guard rest != 1 else { return element.encoded }
      var changed = element
      changed.bytes = body + EBMLElement.void(rest)
      return changed.encoded
    }
  }
}

/// An element of an EBML document (RFC 8794).
struct EBMLElement {
  let id: UInt32
  var bytes: [UInt8]
  /// How many bytes its length takes.
  private var lengthSize: Int
  /// Bytes to be filled behind it.
  var padding = 0

  init(id: UInt32, bytes: [UInt8]) {
    self.id = id
    self.bytes = bytes
    lengthSize = 1
  }

  private init(id: UInt32, bytes: [UInt8], lengthSize: Int) {
    self.id = id
    self.bytes = bytes
    self.lengthSize = lengthSize
  }

  /// Reads the elements of a master; what is no whole element at the end is left out.
  static func all(in bytes: [UInt8]) -> [EBMLElement] {
    var found: [EBMLElement] = []
    var place = 0
    while let header = header(in: bytes[place...]), place + header.size + header.length <= bytes.count {
      let body = place + header.size
      found.append(
        EBMLElement(
          id: header.id, bytes: Array(bytes[body..<body + header.length]), lengthSize: header.lengthSize))
      place = body + header.length
      if place >= bytes.count { break }
    }
    return found
  }

  /// The identifier, the length of the body, and the size of both as they are written.
  static func header(in bytes: ArraySlice<UInt8>) -> (id: UInt32, length: Int, size: Int, lengthSize: Int)? {
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

  var encoded: [UInt8] {
    var size = lengthSize
    while size < 8, bytes.count >= 1 << (7 * size) - 1 { size += 1 }
    let length = UInt64(bytes.count) | 1 << UInt64(7 * size)
    let name = withUnsafeBytes(of: id.bigEndian, Array.init).drop { $0 == 0 }
    let written = withUnsafeBytes(of: length.bigEndian, Array.init).suffix(size)
    return name + written + bytes + EBMLElement.void(padding)
  }

  /// An element of `size` bytes in all that says nothing; 0, or 2 and more.
  static func void(_ size: Int) -> [UInt8] {
    guard size >= 2 else { return [] }
    let lengthSize = size < 128 ? 1 : 4
    let body = size - 1 - lengthSize
    let length = withUnsafeBytes(of: (UInt32(body) | (lengthSize == 4 ? 0x1000_0000 : 0x80)).bigEndian, Array.init)
    return [0xEC] + length.suffix(lengthSize) + [UInt8](repeating: 0, count: body)
  }
}

extension MovieFile {
  /// The elements of a master that lie in `range`; of one without a known length, the rest of the file.
  func elements(in range: Range<Int>) -> [(id: UInt32, body: Range<Int>)] {
    var found: [(id: UInt32, body: Range<Int>)] = []
    var place = range.lowerBound
    while place < range.upperBound, let bytes = read(place..<min(place + 12, size)),
      let header = EBMLElement.header(in: bytes[...]), place + header.size + header.length <= size
    {
      found.append((header.id, place + header.size..<place + header.size + header.length))
      place += header.size + header.length
    }
    return found
  }
}
