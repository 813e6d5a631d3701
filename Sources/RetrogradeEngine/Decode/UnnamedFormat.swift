import GStreamer

/// Pixel formats of FFmpeg's decoders for which GStreamer has no name (`Quirk.avdecUnnamedFormat`).
enum UnnamedFormat {
  /// Depths that are neither 8, 10 nor 12 bits a sample; grey frames of more than 8, but for H.264, whose decoder gives them colour.
  private static let caps =
    "video/x-h264, bit-depth-luma=(uint){9, 11, 13, 14}; video/x-h265, bit-depth-luma=(uint){9, 11, 13, 14, 15, 16}; "
    + "video/x-h265, chroma-format=4:0:0, bit-depth-luma=(uint){10, 12}"

  /// - Parameter packets: the caps of what is to be decoded.
  /// - Throws: ``RetrogradeError`` of code `missingPlugin`, where `decoder` would crash on it.
  static func refuse(_ packets: Caps, by decoder: String, source: String) throws {
    guard decoder.hasPrefix("avdec_"), let caps = Caps(caps), packets.intersects(caps), packets.has("bit-depth-luma")
    else { return }
    let depth = packets.description.firstMatch(of: /bit-depth-luma=\(uint\)([0-9]+)/)?.output.1 ?? ""
    throw RetrogradeError(
      .missingPlugin,
      about: source,
      "no decoder for \(packets.codecName) of \(depth) bits a sample, \(packets.string("chroma-format") ?? ""): GStreamer "
        + "has no such pixel format",
      remedy: "change it first, as with: ffmpeg -i \(source) -pix_fmt yuv420p10le video.mkv")
  }

  /// How to name `decoder` in a pipeline. The caps of FFV1 do not say its format; if its frames are copied,
  /// formats without a name end in an error (`Quirk.avdecUnnamedFormat`).
  static func safe(_ decoder: String) -> String {
    decoder == "avdec_ffv1" ? "avdec_ffv1 direct-rendering=false" : decoder
  }
}
