/// JPEG 2000: each packet is a codestream (ISO/IEC 15444-1, A), by itself or in the boxes of a file (I.4).
package struct JPEG2000Packet: Sendable {
  package struct Component: Sendable, Equatable {
    /// The bits of a sample.
    package let depth: Int
    /// True if the component has fewer samples than the frame has pixels, as colour in 4:2:0 and 4:2:2.
    package let isSubsampled: Bool
  }

  package let components: [Component]

  /// Whether the components may be RGB as well as YUV: nothing in the codestream says which.
  package var mayBeRGB: Bool { components.count > 2 && !components.contains(where: \.isSubsampled) }

  /// - Returns: nil where the packet does not say it in its first bytes.
  package init?(_ packet: UnsafeRawBufferPointer) {
    // SOC, and SIZ, which follows it at once (A.5.1); boxes before them are short.
    let start: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]
    guard
      let place = (0...max(0, min(packet.count - 4, 512))).first(where: { packet.dropFirst($0).starts(with: start) })
    else { return nil }
    // The length of SIZ, capabilities, eight numbers of four bytes, how many components there are; then three bytes of each: its
    // depth less one, below the sign's bit, and how far apart its samples are in both directions.
    let head = place + 4 + 36
    guard head + 2 <= packet.count else { return nil }
    let count = Int(packet[head]) << 8 | Int(packet[head + 1])
    guard count > 0, head + 2 + 3 * count <= packet.count else { return nil }
    components = (0..<count).map { number in
      let place = head + 2 + 3 * number
      return Component(
        depth: Int(packet[place] & 0x7F) + 1, isSubsampled: packet[place + 1] > 1 || packet[place + 2] > 1)
    }
  }
}
