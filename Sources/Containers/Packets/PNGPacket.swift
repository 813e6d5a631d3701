/// The header of a PNG image (ISO/IEC 15948, 11.2.2).
package enum PNGPacket {
  /// Whether its pixels are RGB of 16 bits a sample, without transparency.
  package static func isDeepRGB(_ packet: UnsafeRawBufferPointer) -> Bool {
    packet.count > 25 && packet[24] == 16 && packet[25] == 2
  }

  /// Whether its samples have 16 bits.
  package static func isDeep(_ packet: UnsafeRawBufferPointer) -> Bool { packet.count > 24 && packet[24] == 16 }
}
