import GStreamer
import RetrogradeEngine

extension EncodingChoice {
  /// Checks that the requested file size, colours and dithering are possible.
  func checkSize(_ options: EncodingOptions, _ output: String) throws {
    if container.animation != .gif,
      let option = [(options.colors != nil, Setting.colors), (options.dither != nil, .dither)].first(where: \.0)?.1
    {
      throw RetrogradeError(.usage, about: output, "\(setting: option): only GIF has a palette of colours")
    }
    if let colors = options.colors, !(2...256).contains(colors) {
      throw RetrogradeError(.usage, "\(setting: .colors) \(colors): a GIF has 2 to 256")
    }
    if let dither = options.dither, !(0...1).contains(dither) {
      throw RetrogradeError(.usage, "\(setting: .dither) \(dither): it is 0 to 1")
    }
    guard let limit = options.maxSize else { return }
    func refused(_ why: Message) -> RetrogradeError {
      RetrogradeError(.usage, about: output, "\(setting: .maxSize) \(limit.decimal): \(why)")
    }
    let rivals: [(Bool, Setting)] = [
      (options.bitrate != nil && !options.isRateChosen, .bitrate),
      (options.constantRateFactor != nil, .constantRateFactor),
      (options.profile != nil, .profile), (options.quality == .lossless, .quality),
    ]
    if let rival = rivals.first(where: \.0)?.1 {
      throw refused(
        "\(setting: rival) sets the size itself" + (rival == .quality ? ": nothing may be lost" : ""))
    }
    switch container.imageFormat {
    case .sequence: throw refused("numbered images are many files")
    case .animation(.apng): throw refused("APNG is lossless; .webp and .gif can be made smaller")
    default: break
    }
  }

  /// Checks that codec and container hold frames of the size of `raw`: muxers have their own
  /// limits.
  static func check(_ raw: Caps, _ codec: Codec, _ container: Container, _ output: String) throws {
    guard let width = raw.int("width"), let height = raw.int("height"), !takesSize(of: raw, codec, container) else {
      return
    }
    throw RetrogradeError(
      .usage,
      about: output, "can't hold \(codec.caps.codecName) of \(width)x\(height)",
      remedy: "\(setting: .width) makes another size, and "
        + (codec.encoder == "avenc_ffv1"
          ? "numbered .png hold" : ".mkv with \(setting: .videoCodec) ffv1, and numbered .png, hold")
        + " every size")
  }

  static func takesSize(of raw: Caps, _ codec: Codec, _ container: Container) -> Bool {
    guard let width = raw.int("width"), let height = raw.int("height"), let encoder = codec.encoder,
      let frame = Caps("video/x-raw,width=\(width),height=\(height)")
    else { return true }
    let sides = EncoderSettings.sides[encoder] ?? 1...Int.max
    return sides.contains(width) && sides.contains(height) && Registry.factory(encoder, takes: frame)
      && container.takes(codec.caps.setting("width", "\(width)").setting("height", "\(height)"))
  }
}
