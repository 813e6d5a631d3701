/// Picture types and timecodes in packets of MPEG-1, MPEG-2 and MPEG-4 Visual.
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

  /// True if a packet of MPEG-1 or MPEG-2 begins a group of pictures whose timecode is one second
  /// or later (ISO/IEC 13818-2, 6.2.2.6). Encoders that get no timecode count from the first
  /// picture, so the first group of a file then has a timecode near zero.
  static func hasTimecode(_ packet: UnsafeRawBufferPointer) -> Bool {
    var place = packet.startIndex
    while place + 8 <= packet.endIndex {
      if packet[place] == 0, packet[place + 1] == 0, packet[place + 2] == 1 {
        // A picture follows its group's header.
        if packet[place + 3] == 0 { return false }
        if packet[place + 3] == 0xB8 {
          // Bits: drop_frame_flag, hours (5), minutes (6), marker, seconds (6), pictures (6).
          return packet[place + 4] & 0x7F != 0 || packet[place + 5] & 0xF7 != 0 || packet[place + 6] & 0xE0 != 0
        }
      }
      place += 1
    }
    return false
  }
}
