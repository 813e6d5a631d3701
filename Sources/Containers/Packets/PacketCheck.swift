/// Check of whether video packets can be reordered without decoding. It finds packets that depend
/// on their order or on the direction of time, by the first bytes of each; nothing is decoded.
///
/// A packet that does not begin like a frame of its codec is also an obstacle, and is left to a
/// decoder. Damage further inside a packet stays as it is.
package struct PacketCheck: Sendable {
  /// Property of a packet that prevents its reordering.
  package enum Obstacle: Sendable, Equatable {
    /// Decoding needs other packets, even if the container declares otherwise.
    case dependsOnOthers
    /// It contains fields, whose order would also have to be reversed.
    case hasFields
    /// It contains several frames, or one that is not shown.
    case isNotOneFrame
    /// Its parameter sets are in another packet.
    case needsParameterSets
    /// It is empty, or not a frame of its codec.
    case isNoFrame
  }

  /// Supported codecs.
  package enum Codec: Sendable, Equatable {
    /// Each packet is an independent picture without fields: HuffYUV, PNG, JPEG 2000, raw video.
    /// - Parameter beginning: first bytes of each packet.
    case independent(beginning: [UInt8])
    /// - Parameter height: frame height declared by the container; nil if it declares none.
    case jpeg(height: Int?)
    case proRes
    /// - Parameter configuration: Configuration Record (RFC 9043, 4.3); nil in versions 0 and 1,
    ///   which have none.
    case ffv1(configuration: [UInt8]?)
    case vp9
    /// - Parameter configuration: configuration that the container stores outside the stream
    ///   (ISO/IEC 14496-15); nil if start codes separate the units.
    case h264(configuration: [UInt8]?)
    case h265(configuration: [UInt8]?)
  }

  private let codec: Codec
  private var units: UnitCheck?
  private let slices: FFV1Packet?

  package init(_ codec: Codec) {
    self.codec = codec
    slices = if case .ffv1(let configuration) = codec { FFV1Packet(configuration) } else { nil }
    switch codec {
    case .h264(let configuration): units = UnitCheck(.h264, configuration)
    case .h265(let configuration): units = UnitCheck(.h265, configuration)
    default: units = nil
    }
  }

  /// Returns the obstacle in the next packet; nil if the packet can be anywhere.
  package mutating func obstacle(in packet: UnsafeRawBufferPointer) -> Obstacle? {
    switch codec {
    case .independent(let beginning):
      !packet.isEmpty && packet.starts(with: beginning) ? nil : .isNoFrame
    case .jpeg(let height): JPEGPacket.obstacle(in: packet, height: height)
    case .proRes: ProResPacket.obstacle(in: packet)
    case .ffv1: slices?.obstacle(in: packet)
    case .vp9: VP9Packet.obstacle(in: packet)
    case .h264, .h265: units?.obstacle(in: packet)
    }
  }
}

/// Facts about the pictures in a video packet: bytes of their slices, metadata, and dependency on
/// earlier pictures.
///
/// Parsers add and drop parameter sets and delimiters, depending on where reading begins. A packet
/// of H.264 or HEVC that is read again therefore has the same slices, but not always the same size.
package struct PictureBytes: Sendable {
  private let units: UnitCheck?

  /// - Parameter configuration: as in ``PacketCheck/Codec``.
  package init(mediaType: String?, configuration: [UInt8]?) {
    units =
      switch mediaType {
      case "video/x-h264": UnitCheck(.h264, configuration)
      case "video/x-h265": UnitCheck(.h265, configuration)
      default: nil
      }
  }

  /// Counts the bytes of slices in a packet of H.264 or HEVC, or all bytes for other codecs.
  package func count(in packet: UnsafeRawBufferPointer) -> Int {
    units?.sliceBytes(in: packet) ?? packet.count
  }

  /// Names of per-picture metadata in a packet of H.264 or HEVC, such as HDR10+, which no decoder
  /// outputs.
  package func dynamicMetadata(in packet: UnsafeRawBufferPointer) -> [String] {
    units?.dynamicMetadata(in: packet) ?? []
  }

  /// Colour labels in the first packet of H.264 or HEVC, or in its configuration, that are lost in
  /// the output.
  package func details(in packet: UnsafeRawBufferPointer) -> [ContainerDetail] {
    (units?.unnamedColours(in: packet) ?? []).map { ContainerDetail($0, of: .video) }
  }

  /// True if a declared keyframe is correct only after decoding earlier pictures.
  package func recoversLater(in packet: UnsafeRawBufferPointer) -> Bool {
    units?.recoversLater(in: packet) ?? false
  }
}

/// Apple ProRes packet. Every frame is coded independently (SMPTE RDD 36, 4).
enum ProResPacket {
  static func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    // frame_size, 'icpf', frame_header_size, reserved, version, encoder, width, height; then
    // chroma_format in two bits, two reserved ones, and interlace_mode: 0 if the frame is
    // progressive (RDD 36, 5.1 and 5.1.1).
    guard packet.count > 20, packet[4..<8].elementsEqual("icpf".utf8) else { return .isNoFrame }
    return packet[20] >> 2 & 3 == 0 ? nil : .hasFields
  }
}

/// VP9 packet: start of a frame's uncompressed header ("VP9 Bitstream & Decoding Process
/// Specification", 6.2).
enum VP9Packet {
  static func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    guard let first = packet.first, let last = packet.last, first >> 6 == 2 else { return .isNoFrame }
    // A superframe ends with an index that begins and ends with the same marker byte, 110 and its
    // size fields (Annex B).
    let size = 2 + (Int(last >> 3 & 3) + 1) * (Int(last & 7) + 1)
    if last >> 5 == 6, packet.count >= size, packet[packet.count - size] == last { return .isNotOneFrame }
    // frame_marker, two bits of the profile, a reserved bit in profile 3, show_existing_frame,
    // frame_type, show_frame.
    let bits = Int(first) << 8 | (packet.count > 1 ? Int(packet[1]) : 0)
    let shift = first >> 4 & 3 == 3 ? 1 : 0
    func bit(_ place: Int) -> Bool { bits >> (15 - place - shift) & 1 == 1 }
    if bit(4) || bit(5) { return .dependsOnOthers }
    return bit(6) ? nil : .isNotOneFrame
  }
}
