import Containers
import GStreamer
import Quirks

/// Detects video that GStreamer can't decode or decodes wrongly. The caps and the first packet show
/// such video. An example is a pixel format that has no name in GStreamer
/// (`Quirk.avdecUnnamedFormat`).
enum MisreadVideo {
  /// Caps of video for which GStreamer has no pixel format: bit depths other than 8, 10 and 12, and
  /// 12-bit grey H.265. 12-bit grey H.264 is not included, because its decoder adds colour planes.
  private static let caps =
    "video/x-h264, bit-depth-luma=(uint){9, 11, 13, 14}; video/x-h265, bit-depth-luma=(uint){9, 11, 13, 14, 15, 16}; "
    + "video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)12"
  /// Caps of 10-bit grey H.265, whose pixel format has a name only in newer releases of GStreamer.
  private static let grey10 = "video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)10"

  /// Formats that `qtdemux` wrongly reports for raw video (`Quirk.qtdemuxRawFormats`).
  private static let misreadInMOV: Set = ["v308", "RGB15", "BGR15", "RGB16", "BGR16"]

  /// Throws for raw video in a format that `qtdemux` reports wrongly, and for `r210` unless its
  /// width is a multiple of 64. Rows of `r210` are padded to 64 pixels in the file (QuickTime;
  /// `r210_decode` of FFmpeg), but GStreamer assumes shorter rows.
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`.
  static func refuseRaw(_ raw: Caps, of path: StreamPath, source: String) throws {
    if path.passes("qtdemux"), let format = raw.string("format"), misreadInMOV.contains(format) {
      throw RetrogradeError(
        .missingPlugin, about: source, "GStreamer misreads this kind of raw video in MOV (\(format))",
        remedy: "convert it first: ffmpeg -i \(Shell.quoted(source)) -c:v ffv1 -c:a copy video.mkv")
    }
    guard raw.string("format") == "r210", let width = raw.int("width"), width % 64 != 0 else { return }
    throw RetrogradeError(
      .missingPlugin, about: source,
      "GStreamer reads raw 10-bit video (r210) only if the width is a multiple of 64, but this width is \(width)",
      remedy: "convert it first: ffmpeg -i \(Shell.quoted(source)) -c:v ffv1 -c:a copy video.mkv")
  }

  /// Returns the kind of the video, for messages, if GStreamer's decoders crash on it or decode it
  /// wrongly; nil for other video.
  static func misreadKind(_ caps: Caps, firstPacket packet: UnsafeRawBufferPointer) -> String? {
    switch caps.mediaType {
    case "image/png" where Quirk.pngdecDeepRGB.applies && PNGPacket.isDeepRGB(packet):
      "RGB PNG with 16 bits per sample"
    case "image/jpeg" where Quirk.avdecMJPEGFullRange411.applies && JPEGPacket.isFullRange411(packet):
      "JPEG with 4:1:1 chroma"
    case "image/x-jpc", "image/x-j2c", "image/jp2":
      JPEG2000Packet(packet).flatMap {
        $0.mayBeRGB && $0.components[0].depth > 12 ? "JPEG 2000 with 16 bits per sample" : nil
      }
    // The second number in `colorimetry` is the matrix; 1 is RGB.
    case "video/x-av1":
      caps.string("colorimetry").map { $0 == "sRGB" || $0.wholeMatch(of: /[0-9]+:1:.*/) != nil } ?? false
        ? "RGB AV1" : nil
    default: nil
    }
  }

  /// Throws for a video that `decoder` would crash on or decode wrongly, and for H.265 video that
  /// `avdec_h265` would output as single fields.
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`.
  static func refuse(_ video: VideoIndex, by decoder: String, source: String) throws {
    try refuse(video.caps, by: decoder, source: source)
    if let kind = video.misreadKind {
      throw RetrogradeError(
        .missingPlugin, about: source, "GStreamer misreads \(kind)",
        remedy: "convert it first: ffmpeg -i \(Shell.quoted(source)) -c:v ffv1 -pix_fmt gbrp -c:a copy video.mkv")
    }
    // avdec_h265 outputs interlaced fields as `interlace-mode=alternate`, which few elements
    // accept.
    if video.isFields, decoder == "avdec_h265" {
      throw RetrogradeError(
        .missingPlugin, about: source, "not supported: H.265 whose pictures are single fields",
        remedy: "weave the fields into frames first: ffmpeg -i \(Shell.quoted(source)) -vf weave -c:v ffv1 -c:a copy "
          + "video.mkv")
    }
    guard decoder.hasPrefix("avdec_"), let format = video.pixelFormat else { return }
    if let name = format.name, gives(decoder, name) { return }
    throw error(video.caps, depth: "\(format.depth)", channels: format.channels, source)
  }

  /// Throws if packets with these caps would crash `decoder`.
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`.
  static func refuse(_ packets: Caps, by decoder: String, source: String) throws {
    guard decoder.hasPrefix("avdec_"), packets.has("bit-depth-luma"), let caps = Caps(caps), let grey = Caps(grey10)
    else { return }
    let isGrey10 = packets.has("chroma-format") && packets.intersects(grey)
    guard packets.intersects(caps) || isGrey10 && !gives(decoder, "GRAY10_LE16") else { return }
    let depth = packets.description.firstMatch(of: /bit-depth-luma=\(uint\)([0-9]+)/)?.output.1 ?? ""
    throw error(packets, depth: depth, channels: packets.string("chroma-format") ?? "", source)
  }

  /// True if the source caps of `decoder` include the pixel format `name`.
  private static func gives(_ decoder: String, _ name: String) -> Bool {
    guard let template = Registry.sourceCaps(of: decoder), let format = Caps("video/x-raw, format=\(name)") else {
      return false
    }
    return template.intersects(format)
  }

  private static func error(_ packets: Caps, depth: some StringProtocol, channels: String, _ source: String)
    -> RetrogradeError
  {
    let format = channels.isEmpty ? "\(depth) bits per sample" : "\(depth) bits per sample, \(channels)"
    return RetrogradeError(
      .missingPlugin, about: source,
      "no decoder for \(packets.codecName) with \(format): GStreamer has no such pixel format",
      remedy: "convert it first: ffmpeg -i \(Shell.quoted(source)) -pix_fmt yuv420p10le video.mkv")
  }

  /// Returns `decoder` with properties that avoid crashes, in `gst-launch-1.0` syntax.
  ///
  /// The first packet of FFV1 may not specify the pixel format, so a format that has no name in
  /// GStreamer may be found only while decoding. Without `direct-rendering`, such a format usually
  /// causes an error instead of a crash (`Quirk.avdecUnnamedFormat`).
  static func safe(_ decoder: String) -> String {
    decoder == "avdec_ffv1" ? "avdec_ffv1 direct-rendering=false" : decoder
  }
}
