/// JPEG 2000 packet: a codestream (ISO/IEC 15444-1, A), either alone or in the boxes of a file
/// (I.4).
package struct JPEG2000Packet: Sendable {
  package struct Component: Sendable, Equatable {
    /// Bits per sample of the component.
    package let depth: Int
    /// True if the component has fewer samples than the frame has pixels, as chroma in 4:2:0 and
    /// 4:2:2.
    package let isSubsampled: Bool
  }

  package let components: [Component]

  /// True if the components may be RGB. The codestream does not declare whether they are RGB or
  /// YUV.
  package var mayBeRGB: Bool { components.count > 2 && !components.contains(where: \.isSubsampled) }

  /// - Returns: nil if the packet has no codestream header near its start.
  package init?(_ packet: UnsafeRawBufferPointer) {
    // The codestream starts with SOC, directly followed by SIZ (A.5.1). Search only the first
    // bytes, because boxes before these markers are short.
    let start: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51]
    guard
      let place = (0...max(0, min(packet.count - 4, 512))).first(where: { packet.dropFirst($0).starts(with: start) })
    else { return nil }
    // SIZ has a length, capabilities, eight numbers of four bytes, and the number of components.
    // Three bytes per component follow: the depth minus one (below the sign bit), and the
    // horizontal and vertical spacing of the component's samples.
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
