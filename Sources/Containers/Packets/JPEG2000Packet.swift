/// JPEG 2000: each packet is a codestream (ISO/IEC 15444-1, A), by itself or in the boxes of a file (I.4).
package enum JPEG2000Packet {
  /// Whether some components have fewer samples than others, as 4:2:0 and 4:2:2 do.
  package static func isSubsampled(_ packet: UnsafeRawBufferPointer) -> Bool {
    // SOC, and SIZ, which follows it at once (A.5.1); boxes before them are short.
    let start: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]
    guard
      let place = (0...max(0, min(packet.count - 4, 512))).first(where: { packet.dropFirst($0).starts(with: start) })
    else { return false }
    // The length of SIZ, capabilities, eight numbers of four bytes, how many components there are; then three bytes of each: its
    // depth, and how far apart its samples are in both directions.
    let components = place + 4 + 36
    guard components + 2 <= packet.count else { return false }
    let count = Int(packet[components]) << 8 | Int(packet[components + 1])
    return stride(from: components + 2, to: min(components + 2 + 3 * count, packet.count - 2), by: 3).contains {
      packet[$0 + 1] > 1 || packet[$0 + 2] > 1
    }
  }
}
