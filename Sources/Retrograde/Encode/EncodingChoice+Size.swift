import GStreamer
import RetrogradeEngine

extension EncodingChoice {
  /// Checks that the output supports the requested limit of file size, number of colours, and
  /// dithering.
  func checkSize(_ options: EncodingOptions, _ output: String) throws {
    if container.animation != .gif,
      let option = [(options.colors != nil, Setting.colors), (options.dither != nil, .dither)].first(where: \.0)?.1
    {
      throw RetrogradeError(.usage, about: output, "\(setting: option) can be used only for GIF")
    }
    if let colors = options.colors, !(2...256).contains(colors) {
      throw RetrogradeError(.usage, "\(setting: .colors) \(colors): a GIF has 2 to 256 colours")
    }
    if let dither = options.dither, !(0...1).contains(dither) {
      throw RetrogradeError(.usage, "\(setting: .dither) \(dither): the strength must be 0 to 1")
    }
    guard let limit = options.maxSize else { return }
    func refused(_ why: Message) -> RetrogradeError {
      RetrogradeError(.usage, about: output, "\(setting: .maxSize) \(limit.decimal) can't be used \(why)")
    }
    let rivals: [(Bool, Setting)] = [
      (options.bitrate != nil && !options.isRateChosen, .bitrate),
      (options.constantRateFactor != nil, .constantRateFactor),
      (options.profile != nil, .profile), (options.quality == .lossless, .quality),
    ]
    if let rival = rivals.first(where: \.0)?.1 {
      throw refused(
        "with \(setting: rival)" + (rival == .quality ? " lossless" : ", which sets the quality itself"))
    }
    switch container.imageFormat {
    case .sequence: throw refused("for numbered images, which are many files")
    case .animation(.apng): throw refused("for APNG, which is lossless; use .webp or .gif")
    default: break
    }
  }

  /// Checks that the encoder and the muxer accept the frame size in `raw`.
  static func check(_ raw: Caps, _ codec: Codec, _ container: Container, _ output: String) throws {
    guard let width = raw.int("width"), let height = raw.int("height"), !supportsSize(of: raw, codec, container) else {
      return
    }
    throw RetrogradeError(
      .usage,
      about: output, "can't hold \(codec.caps.codecName) video of \(width)x\(height) pixels",
      remedy: "change the size with \(setting: .width), or use "
        + (codec.encoder == "avenc_ffv1" ? "" : ".mkv with \(setting: .videoCodec) ffv1, or ")
        + "numbered .png, which can have any size")
  }

  static func supportsSize(of raw: Caps, _ codec: Codec, _ container: Container) -> Bool {
    guard let width = raw.int("width"), let height = raw.int("height"), let encoder = codec.encoder,
      let frame = Caps("video/x-raw,width=\(width),height=\(height)")
    else { return true }
    let sides = EncoderSettings.sides[encoder] ?? 1...Int.max
    return sides.contains(width) && sides.contains(height) && Registry.factory(encoder, takes: frame)
      && container.takes(codec.caps.setting("width", "\(width)").setting("height", "\(height)"))
  }
}
