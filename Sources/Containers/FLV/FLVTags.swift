/// Entries of the first script tag of an FLV file, `onMetaData` ("Video File Format Specification",
/// Adobe, E.4.4 and E.5: names and values in AMF0).
struct FLVTags {
  /// Texts that flvdemux does not read.
  private(set) var unread: [NamedTag] = []
  private var rest: ArraySlice<UInt8>

  /// Maximum nesting of values.
  private static let deepest = 8
  /// Names of texts that need no report: flvdemux reads them (`gst_flv_demux_parse_metadata_item`),
  /// or they describe how the file was encoded.
  private static let known: Set = [
    "creationdate", "creator", "title", "metadatacreator", "encoder", "videocodecid", "audiocodecid",
    "sourcedata", "metadatadate",
  ]

  /// - Parameter script: body of a script tag.
  init(_ script: [UInt8]) {
    rest = script[...]
    // The body has a name, and then a value: an ECMA array or an object.
    guard take(1)?.first == 2, text(2) == "onMetaData", let type = take(1)?.first, [3, 8].contains(type) else { return }
    if type == 8 { _ = take(4) }
    while let name = text(2), !name.isEmpty, let type = take(1)?.first {
      if type == 2 || type == 12 {
        guard let value = text(type == 2 ? 2 : 4) else { return }
        if !FLVTags.known.contains(name), !value.isEmpty { unread.append(NamedTag(name: name, text: value)) }
      } else if !skip(type, depth: 0) {
        return
      }
    }
  }

  private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  /// Reads a length of `size` bytes, and then a text of that length.
  private mutating func text(_ size: Int) -> String? {
    guard let length = take(size)?.reduce(0, { $0 << 8 | Int($1) }), let bytes = take(length) else { return nil }
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// Skips a value.
  /// - Returns: false if the remaining bytes cannot be parsed.
  private mutating func skip(_ type: UInt8, depth: Int) -> Bool {
    guard depth < FLVTags.deepest else { return false }
    switch type {
    case 0: return take(8) != nil
    case 1: return take(1) != nil
    case 2: return text(2) != nil
    case 5, 6, 13: return true
    case 7: return take(2) != nil
    case 11: return take(10) != nil
    case 12: return text(4) != nil
    case 3, 8:
      if type == 8, take(4) == nil { return false }
      while let name = text(2), let type = take(1)?.first {
        if name.isEmpty, type == 9 { return true }
        if !skip(type, depth: depth + 1) { return false }
      }
      return false
    case 10:
      guard let count = take(4)?.reduce(0, { $0 << 8 | Int($1) }) else { return false }
      for _ in 0..<count {
        guard let type = take(1)?.first, skip(type, depth: depth + 1) else { return false }
      }
      return true
    default: return false
    }
  }
}
