/// Header of a PNG image (ISO/IEC 15948, 11.2.2).
package enum PNGPacket {
  /// True for RGB with 16 bits per component and no transparency.
  package static func isDeepRGB(_ packet: UnsafeRawBufferPointer) -> Bool {
    packet.count > 25 && packet[24] == 16 && packet[25] == 2
  }

  /// True if components have 16 bits.
  package static func isDeep(_ packet: UnsafeRawBufferPointer) -> Bool { packet.count > 24 && packet[24] == 16 }
}
