public import RetrogradeEngine

/// How the output is encoded.
public struct EncodingOptions: Sendable, Codable {
  /// How near to the source the output is to be.
  public enum Quality: String, Sendable, Codable, CaseIterable {
    /// Hard to tell from the source, at about its bit rate.
    case source
    /// Hard to tell from the source under a magnifying glass, at any bit rate that takes.
    case high
    /// Bit-exact frames and samples.
    case lossless
  }

  /// The container, by its file name extension, such as `mkv`, or as other programs call it: `matroska`, `mpegts`. Nil: the output's own
  /// extension says it, which standard output (`-`) does not have.
  public var format: String?
  public var quality: Quality
  /// A codec's short name, such as `h264`, or caps, such as `video/x-h264`; nil: the source's own, if possible.
  public var videoCodec: String?
  public var audioCodec: String?
  /// The encoder of the video, by the name of its GStreamer element, such as `vah264enc`; nil: the one that GStreamer ranks first
  /// for the codec.
  public var encoder: String?
  /// Properties of the encoder of the video, by their names; they go before everything else that is said of it.
  public var encoderOptions: [String: String]
  /// A `GstEncodingProfile` in GStreamer's serialised syntax, or the name of an encoding target. It replaces everything
  /// else here.
  public var profile: String?
  /// Bits per second of the video.
  public var bitrate: Int?
  /// A constant rate factor or quantizer, on the encoder's own scale.
  public var constantRateFactor: Int?
  /// One of the encoder's own speed presets.
  public var preset: String?
  /// The most bytes that the file may have; nil: as many as it takes. What had to be given up for it is a warning.
  public var maxSize: ByteCount?
  /// How many colours a GIF has, 2 to 256; nil: 256.
  public var colors: Int?
  /// How much the colours of a GIF are dithered (Floyd and Steinberg's way), from 0, not at all, to 1; nil: a third, which looks best.
  public var dither: Double?
  /// The codec of video or audio was set by a ``Preset``.
  package var isVideoCodecOfPlace = false
  package var isAudioCodecOfPlace = false
  /// Whether `bitrate` was chosen for `maxSize`.
  package var isRateChosen = false
  /// The most bits per second of each audio stream; nil: as many as it usually has.
  package var audioBitrate: Int?
  /// Crop, orientation and size of the picture in the output.
  public var framing: Framing
  /// Whether video in Matroska keeps its transparency: it becomes FFV1, if no other codec is asked for. WebP, APNG
  /// and PNG always keep it. Few video players show it.
  public var keepsAlpha: Bool
  /// Whether interlaced frames are made whole ones, one of each frame.
  public var deinterlaces: Bool
  /// Whether the forward parts are carried as they are, without decoding and encoding: see docs/limits.md for
  /// where that can be done.
  public var copiesForward: Bool
  /// Whether video is decoded and encoded even where its packets could be reversed as they are: see
  /// docs/limits.md for where that can be done.
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

  /// The width of the video as it is shown, in pixels; its height follows. Nil: it is scaled otherwise, or not at all.
  public var width: Int? {
    get { if case .width(let width) = framing.scale { width } else { nil } }
    set { framing.scale = newValue.map(Framing.Scale.width) }
  }
}
