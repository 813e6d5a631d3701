import GStreamer
import Quirks
import RetrogradeEngine

/// Codec, with the caps that identify the codec.
struct Codec: Sendable, Equatable {
  /// The caps as text, such as `audio/mpeg,mpegversion=4`.
  let text: String
  let caps: Caps
  /// Factory name of the requested encoder; nil: the encoder that `encodebin` selects.
  private(set) var chosenEncoder: String?

  static func == (a: Codec, b: Codec) -> Bool { a.text == b.text }

  init?(_ text: String) {
    guard let caps = Caps(text) else { return nil }
    self.text = text
    self.caps = caps
  }

  /// Creates the codec of packets with the caps `caps`.
  init?(of caps: Caps) {
    var text = caps.mediaType
    for field in ["mpegversion", "layer"] {
      if let value = caps.int(field) {
        // Treat MPEG-2 AAC as MPEG-4 AAC, as encoders and muxers do.
        text += ",\(field)=\(text == "audio/mpeg" && field == "mpegversion" && value == 2 ? 4 : value)"
      }
    }
    if text.hasPrefix("video/mpeg") { text += ",systemstream=false" }
    self.init(text)
  }

  /// Creates the codec that the element factory `encoder` outputs; nil if the output is not video.
  init?(madeBy encoder: String) {
    guard let caps = Registry.sourceCaps(of: encoder),
      caps.mediaType.hasPrefix("video/") || caps.mediaType.hasPrefix("image/")
    else { return nil }
    self.init(of: caps)
    chosenEncoder = encoder
  }

  /// Text for the codec in an encoding profile: the requested encoder, or else the codec's caps.
  var profile: String { chosenEncoder ?? text }

  /// Short names of codecs, with the caps of each codec.
  static let names: KeyValuePairs = [
    "h264": "video/x-h264", "hevc": "video/x-h265", "av1": "video/x-av1", "vp9": "video/x-vp9", "vp8": "video/x-vp8",
    "theora": "video/x-theora", "mpeg2": "video/mpeg,mpegversion=2,systemstream=false",
    "mpeg4": "video/mpeg,mpegversion=4,systemstream=false", "mjpeg": "image/jpeg", "prores": "video/x-prores",
    "ffv1": "video/x-ffv,ffvversion=1",
    "aac": "audio/mpeg,mpegversion=4", "mp3": "audio/mpeg,mpegversion=1,layer=3",
    "mp2": "audio/mpeg,mpegversion=1,layer=2", "opus": "audio/x-opus", "vorbis": "audio/x-vorbis",
    "flac": "audio/x-flac", "ac3": "audio/x-ac3", "eac3": "audio/x-eac3", "alac": "audio/x-alac", "pcm": "audio/x-raw",
  ]

  /// Creates the codec with the short name or the caps `name`; nil if there is no such codec.
  init?(named name: String) {
    let known = ["avc": "h264", "h265": "hevc"][name.lowercased()] ?? name.lowercased()
    if let text = Codec.names.first(where: { $0.key == known })?.value {
      self.init(text)
    } else if name.contains("/") {
      self.init(name)
    } else {
      return nil
    }
  }

  var isRaw: Bool { caps.mediaType == "audio/x-raw" }

  /// Requested encoder, or the encoder that `encodebin` would select; nil if no encoder is
  /// installed or needed.
  var encoder: String? {
    isRaw ? nil : chosenEncoder ?? Codec.choosingEncoders { Registry.factories(.encoder, sources: caps).first }
  }

  /// Runs `body` with changed ranks of encoders, so that `encodebin` selects encoders that work.
  ///
  /// `avenc_aac` is preferred (`Quirk.avencAACUnranked`). Encoders of DTS, of Dolby's lossless
  /// codecs (`Quirk.avencExperimental`) and of Windows Media Audio (`Quirk.avencWMAAlignment`) are
  /// avoided, and so are the timestampers that `encodebin` would link after encoders
  /// (`Quirk.h264timestamperVariableRate`).
  ///
  /// - Parameter chosen: encoders requested by name. Their rank is raised, since `encodebin`
  ///   ignores encoders of rank NONE.
  static func choosingEncoders<Value: Sendable, Failure: Error>(
    _ chosen: [String] = [], _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let timestampers = Quirk.h264timestamperVariableRate.applies ? Quirk.timestampers : []
    return try Registry.choosing(
      ["avenc_aac"] + chosen,
      avoiding: ["avenc_dca", "avenc_mlp", "avenc_truehd", "avenc_wmav1", "avenc_wmav2"] + timestampers, body)
  }

  /// True if the codec's encoder accepts frames or samples with the caps `raw` without conversion.
  func encodes(_ raw: Caps) -> Bool {
    if EncoderSettings.hasOddSubsampledSize(raw), ["video/x-h264", "video/x-h265"].contains(caps.mediaType) {
      return false
    }
    return isRaw || encoder.map { Registry.factory($0, takes: raw) } ?? false
  }

  /// Returns a pixel format in which the codec encodes frames with the caps `raw` without changing
  /// any value; nil if there is none.
  func exactFormat(for raw: Caps) -> String? {
    let formats = raw.string("format").flatMap { PixelFormat($0) }?.equivalents ?? []
    return formats.first { encodes(raw.setting("format", $0.name)) }?.name
  }
}
