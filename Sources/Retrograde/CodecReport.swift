import GStreamer

/// Codec, with the installed GStreamer elements that encode or decode the codec.
public struct CodecReport: Codable, Sendable {
  /// Encoder or decoder.
  public struct Element: Codable, Sendable {
    /// Name of the element, such as `x264enc`.
    public var name: String
    /// True if the element's class includes `Hardware`.
    public var isHardware: Bool
  }

  /// Short name, such as `h264`.
  public var name: String
  /// Caps in GStreamer's syntax.
  public var caps: String
  /// Encoders; the first is used unless another is requested.
  public var encoders: [Element]
  /// Decoders; the first is used.
  public var decoders: [Element]

  /// Returns all codecs that have a short name, except PCM: video first, then audio.
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
