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
    static let tags: UInt32 = 0x1254_C367
    static let tag: UInt32 = 0x7373
    static let simpleTag: UInt32 = 0x67C8
    static let tagString: UInt32 = 0x4487
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
    guard let segment = file.elements(in: 0..<file.size).first(where: { $0.id == MatroskaID.segment }) else { return }
    for part in file.elements(in: segment.body) {
      guard [MatroskaID.tracks, ID.tags].contains(part.id), part.body.count < 1 << 24, let bytes = file.read(part.body)
      else {
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
      guard track.id == MatroskaID.trackEntry else { return nil }
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
