/// Looks at the packets of a video, one after the other, for dependencies on their order or on one direction,
/// by which they can't be given out in another one as they are. It looks at the first bytes of each; nothing
/// is decoded.
///
/// A packet that does not begin as a frame of its codec is an obstacle too: a decoder says what becomes of
/// it. Damage further in stays as it was.
package struct PacketCheck: Sendable {
  /// Property of a packet, by its bytes, that keeps it from being given out as it is.
  package enum Obstacle: Sendable, Equatable {
    /// It is decoded with the help of others, even if its container says otherwise.
    case dependsOnOthers
    /// The order of its fields lies inside it, and would have to be turned too.
    case hasFields
    /// It holds several frames, or one that is not shown.
    case isNotOneFrame
    /// Its parameter sets came in another packet.
    case needsParameterSets
    /// It is empty, or something else than its codec has.
    case isNoFrame
  }

  /// The codecs that have a rule.
  package enum Codec: Sendable, Equatable {
    /// Each packet is a picture by itself, and says nothing of fields: HuffYUV, PNG, JPEG 2000, raw video.
    /// - Parameter beginning: first bytes of each packet.
    case independent(beginning: [UInt8])
    /// - Parameter height: of a frame, by the container; nil where it does not say.
    case jpeg(height: Int?)
    case proRes
    /// - Parameter configuration: the Configuration Record (RFC 9043, 4.3); nil in the versions 0 and 1, which have none.
    case ffv1(configuration: [UInt8]?)
    case vp9
    /// - Parameter configuration: configuration that the container keeps beside the stream (ISO/IEC
    ///   14496-15); nil: start codes part the units.
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

  /// - Returns: nil where the packet can stand anywhere.
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

/// Facts about the pictures of a video packet: the bytes of their slices, their metadata, and whether they
/// depend on earlier pictures.
///
/// Parsers add and drop parameter sets and delimiters, depending on where reading begins: a packet of H.264
/// or HEVC that is read again has the same slices, but not always the same size.
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

  /// The bytes of slices in a packet of H.264 or HEVC; of other codecs, those of the packet.
  package func count(in packet: UnsafeRawBufferPointer) -> Int {
    units?.sliceBytes(in: packet) ?? packet.count
  }

  /// Names of metadata in a packet of H.264 or HEVC that hold for its picture alone, such as HDR10+, and that no
  /// decoder outputs.
  package func dynamicMetadata(in packet: UnsafeRawBufferPointer) -> [String] {
    units?.dynamicMetadata(in: packet) ?? []
  }

  /// Labels in the first packet of H.264 or HEVC, or beside the stream, that no mirror has.
  package func details(in packet: UnsafeRawBufferPointer) -> [ContainerDetail] {
    (units?.unnamedColours(in: packet) ?? []).map { ContainerDetail($0, of: .video) }
  }

  /// Whether a picture that a container calls a keyframe comes out right only if some before it are decoded.
  package func recoversLater(in packet: UnsafeRawBufferPointer) -> Bool {
    units?.recoversLater(in: packet) ?? false
  }
}

/// Apple ProRes. Every frame is coded by itself (SMPTE RDD 36, 4).
enum ProResPacket {
  static func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    // frame_size, 'icpf', frame_header_size, reserved, version, encoder, width, height; then chroma_format in two bits, two
    // reserved ones, and interlace_mode: 0 where the frame is progressive (RDD 36, 5.1 and 5.1.1).
    guard packet.count > 20, packet[4..<8].elementsEqual("icpf".utf8) else { return .isNoFrame }
    return packet[20] >> 2 & 3 == 0 ? nil : .hasFields
  }
}

/// VP9: the start of a frame's uncompressed header ("VP9 Bitstream & Decoding Process Specification", 6.2).
enum VP9Packet {
  static func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    guard let first = packet.first, let last = packet.last, first >> 6 == 2 else { return .isNoFrame }
    // A superframe has an index at its end that begins and ends with the same marker, 110 and its own form (Annex B).
    let size = 2 + (Int(last >> 3 & 3) + 1) * (Int(last & 7) + 1)
    if last >> 5 == 6, packet.count >= size, packet[packet.count - size] == last { return .isNotOneFrame }
    // frame_marker, two bits of the profile, a reserved one in profile 3, show_existing_frame, frame_type, show_frame.
    let bits = Int(first) << 8 | (packet.count > 1 ? Int(packet[1]) : 0)
    let shift = first >> 4 & 3 == 3 ? 1 : 0
    func bit(_ place: Int) -> Bool { bits >> (15 - place - shift) & 1 == 1 }
    if bit(4) || bit(5) { return .dependsOnOthers }
    return bit(6) ? nil : .isNotOneFrame
  }
}
