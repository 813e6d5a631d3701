/// Tag with an arbitrary name, for tags that GStreamer does not define.
package struct NamedTag: Hashable, Sendable, Codable {
  package var name: String
  package var text: String

  package init(name: String, text: String) {
    self.name = name
    self.text = text
  }

  /// Creates a tag from a comment such as `NAME=text`; nil if the comment has no name.
  package init?(comment: String) {
    let parts = comment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    self.init(name: parts[0], text: parts[1])
  }

  package var comment: String { "\(name.replacing("=", with: "-"))=\(text)" }

  /// True for a tag that describes the source file, its encoder or its length, and would be wrong
  /// for the output.
  package var isTechnical: Bool {
    let name = name.uppercased()
    return NamedTag.technical.contains(name) || name.hasPrefix("_STATISTICS_")
      || NamedTag.statistics.contains { name.hasPrefix($0) }
  }

  /// True for a tag with times or frame numbers of the source, which would be wrong in the output.
  package var saysTimes: Bool {
    let name = name.uppercased()
    return ["CUESHEET", "TIMECODE", "SYNCEDLYRICS"].contains(name)
      || name.hasPrefix("CHAPTER") && name.dropFirst(7).first?.isNumber ?? false
  }

  /// Names of technical tags. FFmpeg copies `HANDLER_NAME` and the brands from the boxes of an MP4
  /// file. ImageMagick writes the times of the file into PNG (`DATE:…`).
  private static let technical: Set = [
    "MAJOR_BRAND", "MINOR_VERSION", "COMPATIBLE_BRANDS", "DURATION", "ENCODER", "ENCODER_OPTIONS", "HANDLER_NAME",
    "VENDOR_ID", "ITUNSMPB", "ENCODING PARAMS", "CDEC", "DATE:CREATE", "DATE:MODIFY", "DATE:TIMESTAMP",
  ]

  /// Prefixes of the names of mkvmerge's statistics tags. A language suffix may follow, as in
  /// `BPS-eng`.
  private static let statistics = ["BPS", "NUMBER_OF_FRAMES", "NUMBER_OF_BYTES", "SOURCE_ID", "DURATION-"]
}

/// Tag as stored in an MP4 or MOV file: QuickTime metadata (`mdta`), or an item of the iTunes list.
package struct MP4Tag: Hashable, Sendable, Codable {
  package var name: String
  /// Item of the iTunes list, including its box header; nil for a QuickTime key, which has only
  /// `type` and `value`.
  package var item: [UInt8]?
  /// Type of the value (QuickTime File Format, "Well-Known Types").
  package var type = 1
  package var value: [UInt8] = []

  init(key name: String, type: Int, value: [UInt8]) {
    self.name = name
    self.type = type
    self.value = value
  }

  init(item: [UInt8], name: String, type: Int, value: [UInt8]) {
    self.init(key: name, type: type, value: value)
    self.item = item
  }

  package init(_ tag: NamedTag) {
    self.init(key: tag.name, type: 1, value: Array(tag.text.utf8))
    if tag.name == "DATE" { item = item([0xA9] + Array("day".utf8)) }
    guard let box = MP4Tag.numbers[tag.name], let number = UInt32(tag.text) else { return }
    (type, value) = (21, .big(number))
    item = item(Array(box.utf8))
  }

  /// Encodes `value` as the item `name` of the iTunes list.
  private func item(_ name: [UInt8]) -> [UInt8] {
    var item = Box.bytes("item", Box.bytes("data", .big(UInt32(type)), .zeros(4), value))
    item.replaceSubrange(4..<8, with: name)
    return item
  }

  /// Items of the iTunes list for numeric tags, by tag name.
  private static let numbers = ["SHOW_SEASON_NUMBER": "tvsn", "SHOW_EPISODE_NUMBER": "tves"]

  /// Value as text, for display and other containers; nil if it cannot be expressed as text.
  package var text: String? {
    switch type {
    case 1: String(validating: value, as: UTF8.self)
    case 2:
      String(
        validating: (0..<value.count / 2).map { UInt16(value[2 * $0]) << 8 | UInt16(value[2 * $0 + 1]) },
        as: UTF16.self)
    case 21, 65, 66, 67, 74: number(isSigned: true)
    // A short iTunes item without a type is a number.
    case 0 where item != nil && value.count < 5: number(isSigned: true)
    case 22, 75, 76, 77, 78: number(isSigned: false)
    case 23 where value.count == 4: "\(Float(bitPattern: UInt32(value.integer(0))))"
    case 24 where value.count == 8: EBMLElement(id: 0, bytes: value).float.map { "\($0)" }
    default: nil
    }
  }

  private func number(isSigned: Bool) -> String? {
    guard (1...8).contains(value.count) else { return nil }
    let bits = value.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let unused = 64 - 8 * UInt64(value.count)
    return isSigned ? "\(Int64(bitPattern: bits << unused) >> Int64(unused))" : "\(bits)"
  }
}
