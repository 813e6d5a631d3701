import Containers
import GStreamer

/// Checks during indexing whether a video's packets can be output in another order without
/// re-encoding. Each packet must be an independent frame, in a codec for which ``PacketCheck`` has
/// a rule.
struct PacketReversal {
  private let codec: PacketCheck.Codec?
  private var check: PacketCheck?
  private let caps: Caps
  private var found: String?

  init(_ caps: Caps) {
    self.caps = caps
    codec = PacketReversal.codec(caps)
    check = codec.map { PacketCheck($0) }
    found = check == nil ? "\(caps.codecName) is not known to consist of independent frames" : nil
    // For most codecs, parsers and demuxers report interlaced fields in the caps. For other codecs,
    // the packets themselves show whether they contain interlaced fields.
    let isWhole = ["progressive", nil].contains(caps.string("interlace-mode"))
    if found == nil, !isWhole || caps.string("coded-picture-structure") == "field" || caps.int("fields") == 2 {
      found = PacketReversal.words(.hasFields)
    }
  }

  /// Returns the rule for a codec whose packets can be independent frames; nil for other codecs.
  private static func codec(_ caps: Caps) -> PacketCheck.Codec? {
    switch caps.mediaType {
    // Codecs without prediction between pictures: HuffYUV, whose Huffman tables are in `codec_data`
    // (Ben Rudiak-Gould's HuffYUV 2.1.1); PNG (W3C); JPEG 2000 (ISO/IEC 15444-1); raw video.
    case "image/png": .independent(beginning: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
    case "video/x-huffyuv", "image/x-j2c", "image/x-jpc", "image/x-jp2c", "video/x-raw": .independent(beginning: [])
    case "image/jpeg": .jpeg(height: caps.int("height"))
    case "video/x-prores": .proRes
    case "video/x-ffv": .ffv1(configuration: caps.buffer("codec_data"))
    case "video/x-vp9": caps.description.contains("codec-alpha=(boolean)true") ? nil : .vp9
    case "video/x-h264": .h264(configuration: caps.configuration)
    case "video/x-h265": .h265(configuration: caps.configuration)
    default: nil
    }
  }

  /// Checks one packet.
  mutating func add(_ sample: Sample) throws {
    guard found == nil else { return }
    if let now = sample.caps, !now.isEqual(caps) {
      found = PacketReversal.words(.changesForm)
    } else if !sample.buffer.isKeyframe {
      found = PacketReversal.words(.dependsOnOthers)
    } else {
      found = try sample.buffer.withBytes { check?.obstacle(in: $0) }.map(PacketReversal.words)
    }
  }

  /// Returns the reason why the packets can't be reordered, for messages; nil if they can be
  /// reordered.
  func obstacle(in packets: [VideoPacket]) -> String? {
    if let found { return found }
    let times = packets.compactMap { $0.time }
    if times.count < packets.count || packets.contains(where: \.isHidden) {
      return "some of its packets are hidden, or have no timestamp"
    }
    return zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
      ? nil : "its packets are not in display order"
  }

  private static func words(_ obstacle: PacketCheck.Obstacle) -> String {
    switch obstacle {
    case .dependsOnOthers: "some of its frames depend on others"
    case .hasFields: "it is interlaced, and the order of its fields can't be reversed without decoding them"
    case .isNotOneFrame: "some of its packets are not one frame each"
    case .isNoFrame: "some of its packets are damaged, or not of its codec"
    case .changesForm: "its format changes within the video"
    case .needsParameterSets: "only some of its packets have parameter sets"
    }
  }
}

extension Caps {
  /// Codec configuration from the container, empty if there is none; nil if the stream's NAL units
  /// have start codes instead of a length prefix.
  var configuration: [UInt8]? {
    string("stream-format") == "byte-stream" ? nil : buffer("codec_data") ?? []
  }
}

extension PictureBytes {
  /// - Parameter caps: caps of the packets.
  init(_ caps: Caps) { self.init(mediaType: caps.mediaType, configuration: caps.configuration) }
}
