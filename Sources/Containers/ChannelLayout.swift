/// Speaker positions in Core Audio's format (`AudioChannelLayout`, CoreAudioBaseTypes.h), used by
/// `chan` in MOV and `CHAN` in AIFF.
enum ChannelLayout {
  /// Converts a layout to a GStreamer channel mask.
  /// - Parameter bytes: tag, bitmap, number of descriptions, and the descriptions (20 bytes each).
  /// - Returns: one bit per `GstAudioChannelPosition`; nil if GStreamer lacks a position, or orders
  ///   the positions differently.
  static func mask(_ bytes: ArraySlice<UInt8>) -> UInt64? {
    let bytes = Array(bytes)
    guard bytes.count >= 12 else { return nil }
    let places: [Int?]
    switch bytes.integer(0) {
    case 0:
      let count = bytes.integer(8)
      guard (1...64).contains(count), bytes.count >= 12 + 20 * count else { return nil }
      places = (0..<count).map { place(ofLabel: bytes.integer(12 + 20 * $0)) }
    case 0x1_0000:
      let bitmap = bytes.integer(4)
      places = (0..<32).filter { bitmap >> $0 & 1 == 1 }.map { place(ofLabel: $0 + 1) }
    case let tag: return masks[tag]
    }
    let known = places.compactMap { $0 }
    guard known.count == places.count, zip(known, known.dropFirst()).allSatisfy({ $0 < $1 }) else { return nil }
    return known.reduce(0) { $0 | 1 << UInt64($1) }
  }

  /// Returns the `GstAudioChannelPosition` of a Core Audio label; nil unless the label is 1 to 11.
  /// Labels 1 to 11 are left, right, centre, LFE, surround pair, centre pair, rear centre, and side
  /// pair. In GStreamer, a second LFE precedes the side pair.
  private static func place(ofLabel label: Int) -> Int? {
    switch label {
    case 1...9: label - 1
    case 10, 11: label
    default: nil
    }
  }

  /// Channel masks by layout tag: layout number in the upper 16 bits, channel count in the lower.
  private static let masks: [Int: UInt64] = [
    101 << 16 | 2: 0x3, 108 << 16 | 4: 0x33, 113 << 16 | 3: 0x7, 115 << 16 | 4: 0x107, 117 << 16 | 5: 0x37,
    121 << 16 | 6: 0x3F, 125 << 16 | 7: 0x13F, 126 << 16 | 8: 0xFF, 131 << 16 | 3: 0x103, 133 << 16 | 3: 0xB,
  ]
}
