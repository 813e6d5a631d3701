/// HEVC decoder configuration in MP4 (`hvcC`).
///
/// Source: ISO/IEC 14496-15, 8.3.3.1.
package struct HEVCConfiguration {
  /// Codec string as in ISO/IEC 14496-15, E.3, such as `hvc1.1.6.L120.90`.
  package let codecs: String

  /// Reads an HEVC decoder configuration record.
  /// - Parameter record: body of the `hvcC` box.
  package init?(_ record: [UInt8]) {
    guard record.count > 12 else { return nil }
    let space = ["", "A", "B", "C"][Int(record[1] >> 6)]
    // Reverse the bits: in the codec string, the first compatibility flag is the lowest bit.
    var flags: UInt32 = 0
    for place in 0..<32 where record[2 + place / 8] << (place % 8) & 0x80 != 0 { flags |= 1 << place }
    var constraints = record[6..<12]
    while constraints.last == 0 { constraints.removeLast() }
    let tier = record[1] & 32 == 0 ? "L" : "H"
    let profile = ["hvc1", "\(space)\(record[1] & 31)", HEVCConfiguration.hexadecimal(flags), "\(tier)\(record[12])"]
    codecs = (profile + constraints.map { HEVCConfiguration.hexadecimal(UInt32($0)) }).joined(separator: ".")
  }

  private static func hexadecimal(_ number: UInt32) -> String { String(number, radix: 16, uppercase: true) }
}
