import GStreamer

/// A codec, and GStreamer's elements on this machine that make and read it.
public struct CodecReport: Codable, Sendable {
  /// An element that encodes or decodes.
  public struct Element: Codable, Sendable {
    /// Its name in GStreamer, such as `x264enc`.
    public var name: String
    /// Whether it says that it runs on a device of its own.
    public var isHardware: Bool
  }

  /// Common name, such as `h264`.
  public var name: String
  /// Its caps in GStreamer.
  public var caps: String
  /// The first is taken unless another is asked for.
  public var encoders: [Element]
  /// The first is taken.
  public var decoders: [Element]

  /// All codecs that have a name here: of video, then of audio.
  public static func all() -> [CodecReport] {
    Codec.names.compactMap { name, _ in
      guard let codec = Codec(named: name), !codec.isRaw else { return nil }
      let usual = Codec.choosingEncoders { Registry.factories(.encoder, sources: codec.caps) }
      let others = Registry.factories(.encoder, sources: codec.caps, isRanked: false).filter {
        !usual.contains($0) && Registry.kind(of: $0)?.hasPrefix("Codec/Encoder/") ?? false
      }
      return CodecReport(
        name: name, caps: codec.text, encoders: (usual + others).map(Element.init),
        decoders: Registry.factories(.decoder, sinks: codec.caps).map(Element.init))
    }
  }
}

extension CodecReport.Element {
  fileprivate init(_ name: String) {
    self.init(name: name, isHardware: Registry.kind(of: name)?.contains("Hardware") ?? false)
  }
}
