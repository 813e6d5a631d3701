/// Check of whether video packets can be reordered without decoding. Finds packets that depend on
/// their order or on the direction of time. Only headers are parsed.
///
/// A packet that does not begin like a frame of its codec also prevents reordering: such a packet
/// needs a decoder. Damage further inside a packet is not found, and is copied to the output.
package struct PacketCheck: Sendable {
  /// Property of a video packet that prevents its reordering.
  package enum Obstacle: Sendable, Equatable {
    /// The packet cannot be decoded without other packets, even if the container declares
    /// otherwise.
    case dependsOnOthers
    /// The packet contains fields, whose order would also have to be reversed.
    case hasFields
    /// The packet contains several frames, or a frame that is not shown.
    case isNotOneFrame
    /// The packet's parameter sets differ from those of the first packet, or neither the first
    /// packet nor the container has parameter sets.
    case needsParameterSets
    /// The packet is empty, or not a frame of its codec.
    case isNoFrame
    /// The JPEG image has another size or pixel shape than the image in the first packet.
    case changesForm
  }

  /// Codecs whose packets can be checked.
  package enum Codec: Sendable, Equatable {
    /// Codec in which each packet is an independent picture without fields: HuffYUV, PNG, JPEG
    /// 2000, raw video.
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
    ///   (ISO/IEC 14496-15); nil if start codes separate the NAL units.
    case h264(configuration: [UInt8]?)
    case h265(configuration: [UInt8]?)
  }

  private let codec: Codec
  private var units: UnitCheck?
  private let slices: FFV1Packet?
  /// Form of the first JPEG image.
  private var form: JPEGPacket.Form?

  package init(_ codec: Codec) {
    self.codec = codec
    slices = if case .ffv1(let configuration) = codec { FFV1Packet(configuration) } else { nil }
    switch codec {
    case .h264(let configuration): units = UnitCheck(.h264, configuration)
    case .h265(let configuration): units = UnitCheck(.h265, configuration)
    default: units = nil
    }
  }

  /// Returns the reason why the next packet cannot be reordered; nil if there is none.
  package mutating func obstacle(in packet: UnsafeRawBufferPointer) -> Obstacle? {
    switch codec {
    case .independent(let beginning):
      !packet.isEmpty && packet.starts(with: beginning) ? nil : .isNoFrame
    case .jpeg(let height): JPEGPacket.obstacle(in: packet, height: height) ?? changedForm(in: packet)
    case .proRes: ProResPacket.obstacle(in: packet)
    case .ffv1: slices?.obstacle(in: packet)
    case .vp9: VP9Packet.obstacle(in: packet)
    case .h264, .h265: units?.obstacle(in: packet)
    }
  }

  /// Returns ``Obstacle/changesForm`` if the form (size and pixel shape) of a JPEG image differs
  /// from the form of the first image; nil otherwise.
  private mutating func changedForm(in packet: UnsafeRawBufferPointer) -> Obstacle? {
    guard let own = JPEGPacket.form(packet) else { return nil }
    defer { form = form ?? own }
    return form.map { $0 == own } ?? true ? nil : .changesForm
  }
}

/// Facts about the pictures in a video packet: size of the slices, metadata, and dependency on
/// earlier pictures.
///
/// Parsers add and drop parameter sets and delimiters, depending on where reading begins. When a
/// packet of H.264 or HEVC is read again, its size may therefore differ, but its slices are the
/// same.
package struct PictureBytes: Sendable {
  private let units: UnitCheck?
  private let isMPEG: Bool

  /// - Parameter configuration: as in ``PacketCheck/Codec``.
  package init(mediaType: String?, configuration: [UInt8]?) {
    isMPEG = mediaType == "video/mpeg"
    units =
      switch mediaType {
      case "video/x-h264": UnitCheck(.h264, configuration)
      case "video/x-h265": UnitCheck(.h265, configuration)
      default: nil
      }
  }

  /// Counts the bytes of the slices in a packet of H.264 or HEVC, or all bytes of a packet of other
  /// codecs.
  package func count(in packet: UnsafeRawBufferPointer) -> Int {
    units?.sliceBytes(in: packet) ?? packet.count
  }

  /// Returns the names of metadata of single pictures, such as HDR10+, in a packet of H.264 or
  /// HEVC. No decoder outputs this metadata.
  package func dynamicMetadata(in packet: UnsafeRawBufferPointer) -> [String] {
    units?.dynamicMetadata(in: packet) ?? []
  }

  /// Returns the colour labels that the output loses, because GStreamer has no name for them or
  /// does not read them. H.264 and HEVC only.
  /// - Parameter packet: first packet. The configuration of the stream is read, too.
  package func details(in packet: UnsafeRawBufferPointer) -> [ContainerDetail] {
    (units?.unnamedColours(in: packet) ?? []).map { ContainerDetail($0, of: .video) }
  }

  /// Returns the crop of the pictures, from a packet or the stream's configuration; nil for codecs
  /// other than H.264 and HEVC.
  package func crop(in packet: UnsafeRawBufferPointer) -> PictureCrop? { units?.crop(in: packet) }

  /// True if a packet of H.264 or HEVC itself declares how its picture contains the two views of
  /// stereoscopic video.
  package func declaresViews(in packet: UnsafeRawBufferPointer) -> Bool {
    units?.declaresViews(in: packet) ?? false
  }

  /// True if a packet of MPEG-1 or MPEG-2 has a timecode, which GStreamer does not read (1.22 to
  /// 1.28).
  package func hasTimecode(in packet: UnsafeRawBufferPointer) -> Bool { isMPEG && MPEGPicture.hasTimecode(packet) }

  /// True if a packet that is declared as a keyframe is decoded correctly only after earlier
  /// pictures.
  package func recoversLater(in packet: UnsafeRawBufferPointer) -> Bool {
    units?.recoversLater(in: packet) ?? false
  }
}

/// Apple ProRes packet. Every frame is coded independently (SMPTE RDD 36, 4).
enum ProResPacket {
  static func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    // Header: frame_size, 'icpf', frame_header_size, reserved, version, encoder, width, height;
    // then two bits of chroma_format, two reserved bits, and interlace_mode, which is 0 for a
    // progressive frame (RDD 36, 5.1 and 5.1.1).
    guard packet.count > 20, packet[4..<8].elementsEqual("icpf".utf8) else { return .isNoFrame }
    return packet[20] >> 2 & 3 == 0 ? nil : .hasFields
  }
}

/// VP9 packet: start of a frame's uncompressed header ("VP9 Bitstream & Decoding Process
/// Specification", 6.2).
enum VP9Packet {
  static func obstacle(in packet: UnsafeRawBufferPointer) -> PacketCheck.Obstacle? {
    guard let first = packet.first, let last = packet.last, first >> 6 == 2 else { return .isNoFrame }
    // A superframe ends with an index whose first and last byte are the same marker: the bits 110
    // and two fields for the size of the index (Annex B).
    let size = 2 + (Int(last >> 3 & 3) + 1) * (Int(last & 7) + 1)
    if last >> 5 == 6, packet.count >= size, packet[packet.count - size] == last { return .isNotOneFrame }
    // Header bits: frame_marker (2), profile (2), reserved (only in profile 3),
    // show_existing_frame, frame_type, show_frame.
    let bits = Int(first) << 8 | (packet.count > 1 ? Int(packet[1]) : 0)
    let shift = first >> 4 & 3 == 3 ? 1 : 0
    func bit(_ place: Int) -> Bool { bits >> (15 - place - shift) & 1 == 1 }
    if bit(4) || bit(5) { return .dependsOnOthers }
    return bit(6) ? nil : .isNotOneFrame
  }
}
