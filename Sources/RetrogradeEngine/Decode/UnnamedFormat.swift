import Containers
import GStreamer
import Quirks

/// Pixel formats of FFmpeg's decoders for which GStreamer has no name (`Quirk.avdecUnnamedFormat`).
enum UnnamedFormat {
  /// Depths that are neither 8, 10 nor 12 bits a sample; grey frames of 12 bits, but for H.264, whose decoder
  /// gives them colour.
  private static let caps =
    "video/x-h264, bit-depth-luma=(uint){9, 11, 13, 14}; video/x-h265, bit-depth-luma=(uint){9, 11, 13, 14, 15, 16}; "
    + "video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)12"
  /// Grey frames of 10 bits, whose format has a name in newer releases.
  private static let grey10 = "video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint)10"

  /// Refuses raw video whose rows are longer in the file than GStreamer takes them to be: those of `r210` are padded
  /// to 64 pixels (QuickTime; `r210_decode` of FFmpeg).
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`.
  static func refusePaddedRows(_ raw: Caps, source: String) throws {
    guard raw.string("format") == "r210", let width = raw.int("width"), width % 64 != 0 else { return }
    throw RetrogradeError(
      .missingPlugin, about: source,
      "raw video of 10 bits (r210), whose rows GStreamer reads only if their width is a multiple of 64, not \(width)",
      remedy: "change it first, as with: ffmpeg -i \(source) -c:v ffv1 -c:a copy video.mkv")
  }

  /// Refuses a video on which `decoder` would crash, or of which it would make another one.
  ///
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`.
  static func refuse(_ video: VideoIndex, by decoder: String, source: String) throws {
    try refuse(video.caps, by: decoder, source: source)
    if video.isDeepRGB, Quirk.pngdecDeepRGB.applies {
      throw RetrogradeError(
        .missingPlugin, about: source, "PNG of RGB with 16 bits a sample, which GStreamer reads wrong",
        remedy: "change it first, as with: ffmpeg -i \(source) -pix_fmt rgb24 video.mov")
    }
    guard decoder.hasPrefix("avdec_"), let format = video.pixelFormat else { return }
    if let name = format.name, gives(decoder, name) { return }
    throw error(video.caps, depth: "\(format.depth)", channels: format.channels, source)
  }

  /// Refuses packets whose caps say that `decoder` would crash on them.
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

  /// True if the caps template of `decoder` has the pixel format `name`.
  private static func gives(_ decoder: String, _ name: String) -> Bool {
    guard let template = Registry.sourceCaps(of: decoder), let format = Caps("video/x-raw, format=\(name)") else {
      return false
    }
    return template.intersects(format)
  }

  private static func error(_ packets: Caps, depth: some StringProtocol, channels: String, _ source: String)
    -> RetrogradeError
  {
    RetrogradeError(
      .missingPlugin, about: source,
      "no decoder for \(packets.codecName) of \(depth) bits a sample, \(channels): GStreamer has no such pixel format",
      remedy: "change it first, as with: ffmpeg -i \(source) -pix_fmt yuv420p10le video.mkv")
  }

  /// How to name `decoder` in a pipeline. FFV1 that does not say its format in its first packet is decoded
  /// without `direct-rendering`: then formats without a name usually end in an error (`Quirk.avdecUnnamedFormat`).
  static func safe(_ decoder: String) -> String {
    decoder == "avdec_ffv1" ? "avdec_ffv1 direct-rendering=false" : decoder
  }
}
