public import RetrogradeEngine

/// Options of the encoding.
public struct EncodingOptions: Sendable, Codable {
  /// Target quality, relative to the source.
  public enum Quality: String, Sendable, Codable, CaseIterable {
    /// Hard to distinguish from the source, at about the source's bit rate.
    case source
    /// Hard to distinguish from the source even if enlarged; the bit rate is not limited.
    case high
    /// Bit-exact frames and audio samples.
    case lossless
  }

  /// Container, by file name extension, such as `mkv`, or by a name that other programs use:
  /// `matroska`, `mpegts`. nil: the output's extension selects the container. Standard output (`-`)
  /// has no extension, so it needs this option.
  public var format: String?
  public var quality: Quality
  /// Short name of a codec, such as `h264`, or caps, such as `video/x-h264`; nil: the source's
  /// codec, if possible.
  public var videoCodec: String?
  public var audioCodec: String?
  /// GStreamer element that encodes the video, such as `vah264enc`; nil: the element of highest
  /// rank for the codec.
  public var encoder: String?
  /// Properties of the video encoder, by name. They override the properties that the other options
  /// set.
  public var encoderOptions: [String: String]
  /// `GstEncodingProfile` in GStreamer's serialised syntax, or the name of an encoding target. A
  /// profile replaces the options for codecs and quality; ``framing`` still applies.
  public var profile: String?
  /// Video bit rate in bits per second.
  public var bitrate: Int?
  /// Constant rate factor or quantizer, on the encoder's own scale.
  public var constantRateFactor: Int?
  /// Speed preset of the encoder, such as `slow`; nil: none is requested.
  public var preset: String?
  /// Largest file size in bytes; nil: unlimited. If the quality must be reduced for this size, a
  /// warning names the reductions.
  public var maxSize: ByteCount?
  /// Number of colours in a GIF, 2 to 256; nil: 256.
  public var colors: Int?
  /// Strength of a GIF's dithering (Floyd-Steinberg), from 0 (none) to 1; nil: 0.35, which looks
  /// best.
  public var dither: Double?
  /// True if a ``Preset`` set the video codec.
  package var isVideoCodecOfPlace = false
  /// True if a ``Preset`` set the audio codec.
  package var isAudioCodecOfPlace = false
  /// True if this library derived `bitrate` from `maxSize`; false if the user set `bitrate`.
  package var isRateChosen = false
  /// Largest bit rate of each audio stream, in bits per second; nil: the usual bit rate.
  package var audioBitrate: Int?
  /// Crop, orientation and size of the frame in the output.
  public var framing: Framing
  /// True to keep the transparency of video in Matroska. Video with transparency is then encoded as
  /// FFV1, unless another codec is requested. Few video players show transparency. WebP, APNG and
  /// PNG always keep transparency.
  public var keepsAlpha: Bool
  /// True to deinterlace, with one output frame per source frame.
  public var deinterlaces: Bool
  /// True to copy the packets of parts that play forwards, without decoding and encoding, if
  /// possible: see docs/limits-parts.md.
  public var copiesForward: Bool
  /// True to decode and encode video even if its packets could be reversed unchanged: see
  /// docs/limits-parts.md.
  public var reencodes: Bool

  public init(
    format: String? = nil, quality: Quality = .source, videoCodec: String? = nil, audioCodec: String? = nil,
    encoder: String? = nil,
    encoderOptions: [String: String] = [:], profile: String? = nil,
    bitrate: Int? = nil, constantRateFactor: Int? = nil, preset: String? = nil, width: Int? = nil,
    framing: Framing = Framing(), maxSize: ByteCount? = nil, colors: Int? = nil, dither: Double? = nil,
    keepsAlpha: Bool = false, deinterlaces: Bool = false, copiesForward: Bool = false,
    reencodes: Bool = false
  ) {
    self.format = format
    self.quality = quality
    self.videoCodec = videoCodec
    self.audioCodec = audioCodec
    self.encoder = encoder
    self.encoderOptions = encoderOptions
    self.profile = profile
    self.bitrate = bitrate
    self.constantRateFactor = constantRateFactor
    self.preset = preset
    self.framing = framing
    self.maxSize = maxSize
    self.colors = colors
    self.dither = dither
    if let width { self.framing.scale = .width(width) }
    self.keepsAlpha = keepsAlpha
    self.deinterlaces = deinterlaces
    self.copiesForward = copiesForward
    self.reencodes = reencodes
  }

  /// Display width of the video in pixels; the height keeps the aspect ratio. nil if ``framing``
  /// does not scale to a width.
  public var width: Int? {
    get { if case .width(let width) = framing.scale { width } else { nil } }
    set { framing.scale = newValue.map(Framing.Scale.width) }
  }
}
