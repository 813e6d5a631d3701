import GStreamer
import Quirks
import RetrogradeEngine

/// Encoder properties for the requested quality, converted to each encoder's own scale.
///
/// This type knows encoders by name, because GStreamer has no quality scale that all encoders
/// share.
struct EncoderSettings: Sendable {
  var options: EncodingOptions
  /// Bit rate of the source's stream, in bits per second; nil if unknown.
  var sourceBitrate: Int?
  /// Average number of frames per second.
  var frameRate: Double

  /// Ratio of the output's bit rate to the source's bit rate. Encoding a second time needs a
  /// slightly higher bit rate for the same quality (docs/quality.md).
  static let headroom = 1.25

  /// Lowest bit rate of video, in bits per second. At rates that round to 0 kbit/s, such as the
  /// rates of slide shows, libvpx drops all frames.
  private static let leastBitrate = 10_000

  /// Encoders whose quality this type can set. A codec without such an encoder is used only on
  /// request, since FFmpeg's MPEG and H.263 encoders have fixed bit rates, refuse variable frame
  /// rates, or output packets without timestamps.
  static let known: Set<String> = [
    "x264enc", "x265enc", "vp8enc", "vp9enc", "av1enc", "jpegenc", "avenc_ffv1", "theoraenc", "avenc_prores_ks",
    "avenc_prores",
  ]

  /// Lossless encoders. x264 is lossless only with the right settings; the other encoders are
  /// always lossless.
  private static let lossless: Set<String> = [
    "x264enc", "avenc_ffv1", "avenc_ffvhuff", "avenc_huffyuv", "avenc_utvideo", "avenc_magicyuv",
  ]

  /// Supported widths and heights, for encoders whose pad template allows sizes that do not work
  /// (`Quirk.x264encLargestSize`). For FFV1, FFmpeg divides a frame into one slice per thread.
  /// Frames with a side below 4 pixels become black, or encoding does not start (FFmpeg 5.1 and 8).
  static let sides = ["x264enc": 1...16_384, "avenc_ffv1": 4...Int.max]

  /// Codecs whose players expect 4:2:0 chroma.
  static let chroma420Codecs: Set<String> = ["video/x-h264", "video/x-h265", "video/x-vp9", "video/x-av1"]

  /// Codecs whose streams mark interlaced frames as such.
  static let interlacedCodecs: Set<String> = [
    "video/x-h264", "video/mpeg", "video/x-prores", "video/x-ffv", "video/x-raw",
  ]

  /// FFV1, the only codec whose encoder keeps transparency.
  static let alphaCodec = "video/x-ffv,ffvversion=1"

  /// True for packets of ``alphaCodec``, which can have transparency.
  static func keepsAlpha(_ caps: Caps) -> Bool { alphaCodec.hasPrefix(caps.mediaType + ",") }

  /// True if the width or height is odd and chroma has half the lines or columns. x264 and x265
  /// refuse such frames (`Quirk.x264encOddSize`).
  static func hasOddSubsampledSize(_ raw: Caps) -> Bool {
    guard isOdd(raw), let format = raw.string("format") else { return false }
    return ["I420", "I422", "NV12", "YV12", "Y42B"].contains { format.hasPrefix($0) }
  }

  static func isOdd(_ raw: Caps) -> Bool { ((raw.int("width") ?? 0) | (raw.int("height") ?? 0)) & 1 == 1 }

  /// Range of libaom's quantizers.
  private static let av1Quantizers = 0...63

  /// Highest allowed quantizer for x264, on a scale up to 51. With a size limit, the whole scale is
  /// allowed.
  private var coarsest: Int { options.maxSize == nil ? 34 : 51 }

  /// True if a video encoder has a bit rate setting.
  static func hasRate(_ encoder: String) -> Bool {
    takes[encoder]?.contains(.bitrate) ?? Registry.property("bitrate", of: encoder)
  }

  /// Returns the `element-properties` for a video encoder. Values of enumerations are numbers,
  /// since a GstStructure can't hold the names of such values.
  /// - Throws: ``RetrogradeError`` of code `usage`, with the valid values, if the encoder does not
  ///   accept a requested value.
  func video(_ encoder: String, _ raw: Caps) throws -> [(name: String, value: String)] {
    try rejectUnknownProperties(to: encoder)
    guard options.quality != .lossless || EncoderSettings.lossless.contains(encoder) else {
      throw RetrogradeError(
        .usage, "\(setting: .quality) lossless: \(encoder) is not known to be lossless",
        remedy: "use \(setting: .videoCodec) ffv1 or \(setting: .videoCodec) h264")
    }
    let set: Properties =
      switch encoder {
      case "x264enc": try x264(raw)
      case "x265enc": try x265(raw)
      case "vp8enc", "vp9enc": try vpx(encoder, raw)
      case "av1enc": try av1(raw)
      case "jpegenc":
        [
          (
            "quality",
            try quantizer(options.constantRateFactor ?? (options.quality == .source ? 90 : 97), "quality", encoder)
          )
        ]
      case "avenc_ffv1": ffv1(raw)
      case "theoraenc": try theora(raw)
      case "avenc_prores_ks", "avenc_prores":
        []  // no properties: the ProRes profile comes from the source, and ProRes has a fixed rate
      default: try other(encoder, raw)
      }
    return set.map { (name: $0.0, value: $0.1) }
  }

  /// Names and values of properties.
  private typealias Properties = [(String, String)]

  /// Requested or default bit rate, in bits per second.
  private func wanted(_ raw: Caps) -> Int { options.bitrate ?? defaultBitrate(raw) }

  /// Returns the bit rate for x264 and x265 in kbit/s. These encoders divide the bit rate by the
  /// frame rate in the caps, to get the bits per frame. If frames have different durations, that
  /// frame rate may be higher than the average, and frames would get too few bits. The bit rate is
  /// therefore raised by the same factor (at most 10).
  private func kilobits(_ raw: Caps, _ encoder: String) throws -> String {
    let named = raw.fraction("framerate").flatMap {
      $0.denominator > 0 ? Double($0.numerator) / Double($0.denominator) : nil
    }
    let stretch = named.map { $0 > frameRate && frameRate > 0 ? min($0 / frameRate, 10) : 1 } ?? 1
    return try rate(Int(Double(wanted(raw)) * stretch), "bitrate", encoder, unit: 1000)
  }

  private func x264(_ raw: Caps) throws -> Properties {
    // Switch off the rate limit (VBV), which `x264enc` would apply even at constant quality
    // (`Quirk.x264encBufferInConstantQuality`).
    var set = [("vbv-buf-capacity", "0"), ("speed-preset", try number("speed-preset", "x264enc"))]
    // A preset that the user requested is used unchanged.
    if options.preset == nil { set += EncoderSpeed.additions(to: "x264enc", options.quality) }
    if options.quality == .lossless {
      set += [("pass", "4"), ("quantizer", "0")]
    } else if options.bitrate == nil, let crf {
      set += [("pass", "5"), ("quantizer", try quantizer(crf, "quantizer", "x264enc"))]
    } else {
      // Without a quantizer limit, x264's first frame is grey at very low bit rates.
      set += [
        ("pass", "0"), ("bitrate", try kilobits(raw, "x264enc")), ("qp-max", "\(coarsest)"), ("psy-tune", "5"),
      ]
    }
    return set
  }

  /// Returns the properties for x265enc. `option-string` is not among them, since x265's options
  /// contain equals signs, which encoding profiles can't express.
  private func x265(_ raw: Caps) throws -> Properties {
    let speed = ("speed-preset", try number("speed-preset", "x265enc"))
    guard options.bitrate == nil, let crf else { return [speed, ("bitrate", try kilobits(raw, "x265enc"))] }
    return [speed, ("qp", try quantizer(crf, "qp", "x265enc"))]
  }

  private func vpx(_ encoder: String, _ raw: Caps) throws -> Properties {
    let speed = try speed("cpu-used", encoder)
    // Use libvpx's realtime deadline (1) only for VP9: in VP8, this deadline makes the quality
    // depend on the machine's load. In some releases, it also changes VP9 at speeds below 5
    // (Quirk.vp9encRealTimeSpeed).
    let isRealTime =
      encoder == "vp9enc" && (Int(speed).map { $0 >= 5 } ?? true || !Quirk.vp9encRealTimeSpeed.applies)
    var set = [
      ("deadline", isRealTime ? "(gint64)1" : "(gint64)1000000"), ("cpu-used", speed), ("threads", "4"),
    ]
    if encoder == "vp9enc" { set += [("row-mt", "true")] }
    if options.bitrate == nil, let crf {
      // In constrained-quality mode, the bit rate is only a limit. Set a limit that is never
      // reached.
      let limit = Int(pixelRate(raw) * 4)
      set += [
        ("end-usage", "2"), ("cq-level", try quantizer(crf, "cq-level", encoder)),
        ("target-bitrate", try rate(limit, "target-bitrate", encoder, unit: 1)),
      ]
    } else {
      set += [
        ("end-usage", "0"), ("target-bitrate", try rate(wanted(raw), "target-bitrate", encoder, unit: 1)),
        ("min-quantizer", "0"), ("max-quantizer", options.maxSize == nil ? "46" : "63"),
      ]
    }
    // With `lag-in-frames` above 0, frames are lost at the end (`Quirk.vp9encLag`).
    return set + [("keyframe-max-dist", "240"), ("lag-in-frames", "0")]
  }

  private func av1(_ raw: Caps) throws -> Properties {
    let speed = try speed("cpu-used", "av1enc")
    // Speeds of libaom from 7 on need the usage profile realtime (1); with the usage profile good
    // quality (0), these speeds act like speed 6.
    let isRealTime = Int(speed).map { $0 > 6 } ?? false
    let set = [("cpu-used", speed), ("usage-profile", isRealTime ? "1" : "0"), ("threads", "4"), ("row-mt", "true")]
    let quantizers = EncoderSettings.av1Quantizers
    guard options.bitrate == nil, let crf else {
      // Set the largest quantizer, because av1enc's default of 0 makes the output exceed the bit
      // rate (`Quirk.av1encMaxQuantizer`).
      return set + [
        ("min-quantizer", "0"), ("max-quantizer", "\(quantizers.upperBound)"),
        ("target-bitrate", try rate(wanted(raw), "target-bitrate", "av1enc", unit: 1000)),
      ]
    }
    guard quantizers.contains(crf) else {
      throw RetrogradeError(
        .usage,
        "\(setting: .constantRateFactor) \(crf): av1enc accepts \(quantizers.lowerBound) to \(quantizers.upperBound)")
    }
    // av1enc has no property for constant quality, so set the same quantizer for all frames,
    // whatever the bit rate.
    let limit = Int(pixelRate(raw) * 4)
    return set + [
      ("min-quantizer", "\(crf)"), ("max-quantizer", "\(crf)"),
      ("target-bitrate", try rate(limit, "target-bitrate", "av1enc", unit: 1000)),
    ]
  }

  /// Returns the property `slices`, for multithreading; empty for small frames. FFmpeg refuses
  /// slices of very small frames, and slices that are too large: a slice's width x height x
  /// (bits + 1) x planes must be at most 2^27 (ffv1enc.c). With 12 bits and four planes, a quarter
  /// of 9.5 million pixels is just below that limit.
  private func ffv1(_ raw: Caps) -> Properties {
    let (width, height) = (raw.int("width") ?? 0, raw.int("height") ?? 0)
    guard width >= 256 && height >= 192 else { return [] }
    let slices = [4, 16, 64].first { Double(width) * Double(height) <= 9.5e6 * Double($0 / 4) } ?? 256
    return [("slices", "\(slices)")]
  }

  private func theora(_ raw: Caps) throws -> Properties {
    // By default, theoraenc drops frames to keep its bit rate.
    let set = [("drop-frames", "false")]
    guard options.bitrate == nil && crf != nil else {
      return set + [("bitrate", try rate(wanted(raw), "bitrate", "theoraenc", unit: 1000))]
    }
    return set + [("quality", try quantizer(options.constantRateFactor ?? 56, "quality", "theoraenc"))]
  }

  /// Returns the bit rate for other encoders. The property `bitrate` counts bits (FFmpeg, OpenH264)
  /// or thousands of bits (hardware encoders) per second.
  private func other(_ encoder: String, _ raw: Caps) throws -> Properties {
    guard let unit = EncoderSettings.bitrateUnit(of: encoder) else { return [] }
    return [("bitrate", try rate(wanted(raw), "bitrate", encoder, unit: unit))]
  }

  /// Number of bits per second for which the property `bitrate` of an encoder counts one: 1 or
  /// 1,000; nil if there is no such property.
  static func bitrateUnit(of encoder: String) -> Int? {
    guard let words = Registry.purpose(of: "bitrate", of: encoder)?.lowercased() else { return nil }
    return ["kbit", "kbps", "kb/s"].contains(where: words.contains) ? 1000 : 1
  }

  /// Returns the `element-properties` for an audio encoder.
  func audio(_ encoder: String, rate: Int, channels: Int) -> [(name: String, value: String)] {
    let least = 48_000 * channels
    let most = 256_000 * max(1, channels / 2)
    let usual = options.quality == .source ? min(max(sourceBitrate ?? 96_000 * channels, least), most) : most
    let wanted = min(usual, options.audioBitrate ?? .max)
    switch encoder {
    case "avenc_aac", "voaacenc", "opusenc":
      guard case .whole(let range)? = Registry.allowed("bitrate", of: encoder) else {
        return [(name: "bitrate", value: "\(wanted)")]
      }
      return [(name: "bitrate", value: "\(min(max(wanted, range.lowerBound), range.upperBound))")]
    case "vorbisenc":
      return [(name: "quality", value: options.quality == .source ? "0.5" : "0.9")]
    case "lamemp3enc":
      return [(name: "target", value: "0"), (name: "quality", value: options.quality == .source ? "2.0" : "0.0")]
    case "avenc_ac3", "avenc_eac3":
      return [(name: "bitrate", value: channels > 2 ? "448000" : "192000")]
    case "twolamemp2enc":
      // The encoder's default of 192 kbit/s is too high for layer II at lower sample rates (ISO
      // 13818-3, 2.4.2.3).
      return rate < 32_000 ? [(name: "bitrate", value: "160")] : []
    default:
      return []
    }
  }

  /// Constant rate factor, on the encoder's scale: the requested factor, or 16 for the quality
  /// `high`; nil for other qualities. A requested bit rate takes precedence.
  private var crf: Int? { options.constantRateFactor ?? (options.quality == .high ? 16 : nil) }

  /// Returns the bit rate for a video encoder, in bits per second; nil if the quality is constant
  /// or lossless, or if `takes` lists no bit rate for the encoder.
  func bitrate(of encoder: String, _ raw: Caps) -> Int? {
    guard options.quality != .lossless, options.bitrate != nil || crf == nil,
      EncoderSettings.takes[encoder]?.contains(.bitrate) ?? false
    else { return nil }
    return options.bitrate ?? defaultBitrate(raw)
  }

  private func defaultBitrate(_ raw: Caps) -> Int {
    if let sourceBitrate, options.quality == .source {
      return max(Int(Double(sourceBitrate) * EncoderSettings.headroom), EncoderSettings.leastBitrate)
    }
    // Use 0.1 bits per pixel, because the source does not show what the output needs: its bit rate
    // is unknown or that of a lossless codec, or a higher quality was requested.
    return Int(pixelRate(raw) * 0.1)
  }

  /// Pixels per second.
  private func pixelRate(_ raw: Caps) -> Double {
    Double(raw.int("width") ?? 1280) * Double(raw.int("height") ?? 720) * frameRate
  }

  /// Settings that each encoder supports.
  private static let takes: [String: Set<Setting>] = [
    "x264enc": [.constantRateFactor, .bitrate, .preset], "x265enc": [.constantRateFactor, .bitrate, .preset],
    "vp8enc": [.constantRateFactor, .bitrate, .preset], "vp9enc": [.constantRateFactor, .bitrate, .preset],
    "av1enc": [.constantRateFactor, .bitrate, .preset], "theoraenc": [.constantRateFactor, .bitrate],
    "jpegenc": [.constantRateFactor],
    "avenc_ffv1": [], "avenc_prores_ks": [], "avenc_prores": [],
  ]

  private func rejectUnknownProperties(to encoder: String) throws {
    let known = EncoderSettings.takes[encoder] ?? (Registry.property("bitrate", of: encoder) ? [.bitrate] : [])
    if let option = options.ofQuality.first(where: { !known.contains($0) }) {
      let others = Message.list(known.sorted { $0.rawValue < $1.rawValue })
      throw RetrogradeError(
        .usage,
        "\(setting: option) can't be used with \(encoder)" + (known.isEmpty ? "" : ", which supports \(others)"))
    }
  }

  /// Returns the value of a property whose unit is `unit` bits per second. A default rate is
  /// clamped to the property's range; a requested rate outside the range is an error.
  private func rate(_ bitsPerSecond: Int, _ property: String, _ encoder: String, unit: Int) throws -> String {
    let value = max(bitsPerSecond / unit, 1)
    guard case .whole(let range)? = Registry.allowed(property, of: encoder), !range.contains(value) else {
      return "\(value)"
    }
    if options.bitrate != nil {
      throw RetrogradeError(
        .usage,
        "\(setting: .bitrate): \(encoder) accepts \(range.lowerBound * unit) to "
          + "\(range.upperBound.multipliedReportingOverflow(by: unit).partialValue) bits per second")
    }
    return "\(min(max(value, range.lowerBound), range.upperBound))"
  }

  private func quantizer(_ value: Int, _ property: String, _ encoder: String) throws -> String {
    try checked("\(value)", property, encoder, .constantRateFactor)
  }

  private func speed(_ property: String, _ encoder: String) throws -> String {
    try checked(preset(of: encoder), property, encoder, .preset)
  }

  /// Requested preset, or the default preset.
  private func preset(of encoder: String) -> String {
    options.preset ?? EncoderSpeed.of(encoder, options.quality)
  }

  private func checked(_ value: String, _ property: String, _ encoder: String, _ setting: Setting) throws -> String {
    if let allowed = Registry.allowed(property, of: encoder), !allowed.contains(value) {
      throw RetrogradeError(.usage, "\(setting: setting) \(value): \(encoder) accepts \(allowed)")
    }
    return value
  }

  /// Returns the number of the preset, since values of enumerations are set as numbers.
  private func number(_ property: String, _ encoder: String) throws -> String {
    let name = preset(of: encoder)
    guard case .names(let names)? = Registry.allowed(property, of: encoder) else { return name }
    guard let number = names.first(where: { $0.nick == name })?.value else {
      let known = names.map(\.nick).filter { $0 != "No preset" && $0 != "None" }
      throw RetrogradeError(.usage, "\(setting: .preset) \(name): \(encoder) accepts \(known.joined(separator: ", "))")
    }
    return "\(number)"
  }
}

extension EncodingOptions {
  /// Requested settings that have an effect only if a video is encoded.
  var forOneEncoder: [Setting] {
    ofQuality
      + [(encoder != nil, Setting.encoder), (!encoderOptions.isEmpty, .encoderOptions)].compactMap { $0 ? $1 : nil }
  }

  /// Requested settings that not every video encoder supports.
  fileprivate var ofQuality: [Setting] {
    [(constantRateFactor != nil, Setting.constantRateFactor), (bitrate != nil, .bitrate), (preset != nil, .preset)]
      .compactMap { $0 ? $1 : nil }
  }
}
