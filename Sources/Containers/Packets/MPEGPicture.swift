/// Picture types in packets of MPEG-1, MPEG-2 and MPEG-4 Visual.
package enum MPEGPicture {
  /// True if a packet contains a B-picture (ISO/IEC 13818-2, 6.3.9; ISO/IEC 14496-2, 6.3.5). A
  /// B-picture is also predicted from a later picture, so the presentation order differs from the
  /// decoding order.
  /// - Parameter isVisual: true for MPEG-4 Visual.
  package static func isBidirectional(_ packet: UnsafeRawBufferPointer, isVisual: Bool) -> Bool {
    var place = packet.startIndex
    while place + 6 <= packet.endIndex {
      guard packet[place + 2] <= 1 else {
        place += 3
        continue
      }
      if packet[place] == 0, packet[place + 1] == 0, packet[place + 2] == 1 {
        let code = packet[place + 3]
        if isVisual, code == 0xB6, packet[place + 4] >> 6 == 2 { return true }
        if !isVisual, code == 0, packet[place + 5] >> 3 & 7 == 3 { return true }
      }
      place += 1
    }
    return false
  }
}
