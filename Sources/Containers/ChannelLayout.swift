/// The places of loudspeakers as Core Audio describes them (`AudioChannelLayout`, CoreAudioBaseTypes.h): in `chan` of
/// MOV and `CHAN` of AIFF.
enum ChannelLayout {
  /// - Parameter bytes: the tag, the bitmap, and the number of descriptions, of 20 bytes each, which follow.
  /// - Returns: a bit for each `GstAudioChannelPosition`; nil if there are none for them, or in another order.
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

  /// Left, right, centre, LFE, the surround pair, the pair beside the centre, the rear centre; and the pair at the
  /// sides, before which GStreamer has a second LFE.
  private static func place(ofLabel label: Int) -> Int? {
    switch label {
    case 1...9: label - 1
    case 10, 11: label
    default: nil
    }
  }

  /// Layouts by number, with how many channels they have.
  private static let masks: [Int: UInt64] = [
    101 << 16 | 2: 0x3, 108 << 16 | 4: 0x33, 113 << 16 | 3: 0x7, 115 << 16 | 4: 0x107, 117 << 16 | 5: 0x37,
    121 << 16 | 6: 0x3F, 125 << 16 | 7: 0x13F, 126 << 16 | 8: 0xFF, 131 << 16 | 3: 0x103, 133 << 16 | 3: 0xB,
  ]
}
