public import Containers
import GStreamer
public import RetrogradeEngine

/// Stream whose codec or sample rate in the output differs from the source's.
public struct CodecChange: Sendable, Hashable, CustomStringConvertible {
  public var kind: StreamKind
  /// Name of the source's codec, such as `HEVC` or `PCM`, or the sample rate of the source.
  public var source: String
  public var output: String
  /// Reason for the change.
  public var reason: Message

  /// The change and its reason: `HEVC became MJPEG: .avi can't hold HEVC`.
  public var message: Message { "\(source) became \(output): \(reason)" }

  public var description: String { message.description }
}

/// Encoded as an object with the keys `kind`, `source`, `output` and `reason`.
extension CodecChange: Codable {
  private enum CodingKeys: String, CodingKey {
    case kind, source, output, reason
  }

  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    kind = try values.decode(StreamKind.self, forKey: .kind)
    source = try values.decode(String.self, forKey: .source)
    output = try values.decode(String.self, forKey: .output)
    reason = Message(try values.decode(String.self, forKey: .reason))
  }

  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(kind, forKey: .kind)
    try values.encode(source, forKey: .source)
    try values.encode(output, forKey: .output)
    try values.encode(reason.text(for: encoder), forKey: .reason)
  }
}

extension EncodingChoice {
  /// Returns the change of a video's codec; nil if the codec stays the same, if the source's codec
  /// is unknown, if the source is raw video, or if the user set an encoding profile.
  static func change(
    from source: Codec?, to chosen: Codec?, _ raw: Caps, _ container: Container, _ options: EncodingOptions,
    _ output: String
  ) -> CodecChange? {
    guard let source, source.caps.mediaType != "video/x-raw", source != chosen, options.profile == nil else {
      return nil
    }
    let written = chosen?.shortName ?? container.imageName(of: output)
    guard written != source.shortName else { return nil }
    let codec: Setting = options.isVideoCodecOfPlace ? .place : .videoCodec
    let asked: Setting? = options.encoder != nil ? .encoder : options.videoCodec != nil ? codec : nil
    let reason: Message =
      if chosen == nil {
        "\(output.dotExtension) can hold nothing else"
      } else if let asked {
        "requested by \(setting: asked)"
      } else if !container.takes(source.caps) {
        container.cannotHold(source, output)
      } else if options.quality == .lossless {
        "requested by \(setting: .quality) lossless"
      } else if options.keepsAlpha, raw.hasAlpha, chosen?.text == EncoderSettings.alphaCodec {
        "requested by \(setting: .keepsAlpha)"
      } else if source.encoder.map(EncoderSettings.known.contains) ?? false {
        "the \(source.shortName) encoder does not accept this frame size or pixel format"
      } else if source.encoder == nil {
        "no GStreamer encoder for \(source.shortName) is installed"
      } else {
        "use \(setting: .videoCodec) \(source.argument) to keep it"
      }
    return CodecChange(kind: .video, source: source.shortName, output: written, reason: reason)
  }

  /// Returns the change of an audio stream's codec; nil if the codec stays the same, if the
  /// source's codec is unknown, or if the user set an encoding profile.
  /// - Parameters:
  ///   - isUntimed: true if the output has video, and audio in the container has no timestamps.
  ///     Priming would then shift the audio against the video.
  ///   - raw: caps of the samples.
  static func change(
    from source: Codec?, to chosen: Codec, _ container: Container, _ options: EncodingOptions, _ output: String,
    isUntimed: Bool, raw: Caps
  ) -> CodecChange? {
    guard let source, !source.isSame(as: chosen), options.profile == nil else { return nil }
    let reason: Message =
      if options.audioCodec != nil {
        "requested by \(setting: options.isAudioCodecOfPlace ? .place : .audioCodec)"
      } else if !container.takes(source.caps) {
        container.cannotHold(source, output)
      } else if options.quality == .lossless {
        "requested by \(setting: .quality) lossless"
      } else if source.isRaw {
        "few players expect \(source.shortName) in \(output.dotExtension)"
      } else if isUntimed {
        "\(source.shortName) would lose sync, since \(output.dotExtension) has no timestamps for audio"
      } else if source.encoder != nil {
        "the \(source.shortName) encoder does not accept \(raw.summary.last ?? "these channels")"
      } else {
        "no GStreamer encoder for \(source.shortName) is installed"
      }
    return CodecChange(kind: .audio, source: source.shortName, output: chosen.shortName, reason: reason)
  }
}

extension Codec {
  /// True if `other` is the same codec, even if the caps of `other` are written differently.
  fileprivate func isSame(as other: Codec) -> Bool { self == other || self == Codec(of: other.caps) }

  /// Value of `--video-codec` for this codec.
  fileprivate var argument: String {
    Codec.names.first { $0.value == text }?.key ?? caps.mediaType
  }

  /// Short name for messages, such as `H.264` or `AAC`.
  var shortName: String {
    let texts = [text, Codec(of: caps)?.text]
    let known = Codec.names.first { texts.contains($0.value) }?.key
    let usual = [
      "h264": "H.264", "av1": "AV1", "theora": "Theora", "mpeg2": "MPEG-2", "mpeg4": "MPEG-4", "prores": "ProRes",
      "opus": "Opus", "vorbis": "Vorbis", "ac3": "AC-3", "eac3": "E-AC-3",
    ]
    // A codec without a short name gets GStreamer's description, without profile and level.
    return known.map { usual[$0] ?? $0.uppercased() }
      ?? String(caps.codecName.prefix { $0 != "(" }).trimmingSuffix(" ")
  }
}

extension Container {
  /// Returns the reason why a codec is not written to `output`. For MP4, MOV, Matroska and AVI, the
  /// reason is GStreamer's muxer, since these containers can hold more codecs than the muxers can
  /// write.
  fileprivate func cannotHold(_ codec: Codec, _ output: String) -> Message {
    [".mov", ".mp4", ".m4v", ".m4a", ".mkv", ".mka", ".avi"].contains(output.dotExtension)
      ? "GStreamer can't write \(codec.shortName) to \(output.dotExtension)"
      : "\(output.dotExtension) can't hold \(codec.shortName)"
  }

  /// Returns the name of the image format of the file `output`.
  func imageName(of output: String) -> String { WrittenMedia.containerName(of: output) }
}

extension String {
  /// Extension of a file name, with its dot, in lower case; the name itself if it contains no dot.
  var dotExtension: String { lastIndex(of: ".").map { String(self[$0...]).lowercased() } ?? self }

  fileprivate func trimmingSuffix(_ end: Character) -> String {
    var text = self
    while text.last == end { text.removeLast() }
    return text
  }
}
