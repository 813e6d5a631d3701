import GStreamer
import Quirks
import RetrogradeEngine

extension EncodingChoice {
  /// Returns the codec for a video: the requested codec, the source's codec, or the container's
  /// usual codec. For lossless quality, only FFV1 and H.264 are candidates.
  static func videoCodec(
    _ choice: VideoChoice, _ video: Streams.Video, _ container: Container,
    _ options: EncodingOptions,
    _ output: String
  ) throws -> Codec {
    if let encoder = options.encoder { return try codec(madeBy: encoder, options, container, output) }
    if let name = options.videoCodec { return try named(name, .videoCodec, container, output) }
    let source = Codec(of: video.index.caps).flatMap { codec in
      codec.encoder.map(EncoderSettings.known.contains) ?? false ? codec : nil
    }
    let usual = container.videoCodecs.compactMap { Codec($0) }.filter {
      $0.encoder.map(EncoderSettings.known.contains) ?? false
    }
    let candidates: [Codec]
    if options.quality == .lossless {
      // Use FFV1 if the container accepts FFV1, or else the lossless mode of H.264.
      candidates = [Codec("video/x-ffv,ffvversion=1"), Codec("video/x-h264")].compactMap { $0 }
    } else {
      let transparent = options.keepsAlpha && video.raw.hasAlpha ? Codec(EncoderSettings.alphaCodec) : nil
      candidates = [transparent, source].compactMap { $0 } + usual
    }
    let possible = candidates.filter { $0.encoder != nil && container.takes($0.caps) }
    // Prefer codecs that accept the frames as they are: a change of codec is better than a change
    // of pixel format or size.
    let raw = choice.geometry?.caps ?? video.raw
    let fitting = possible.filter { supportsSize(of: raw, $0, container) }
    let exact = options.quality == .lossless ? fitting.first { $0.exactFormat(for: raw) != nil } : nil
    guard let best = fitting.first(where: { $0.encodes(raw) }) ?? exact ?? fitting.first ?? possible.first else {
      throw options.quality == .lossless
        ? RetrogradeError(
          .usage, about: output, "this container can't hold lossless video", remedy: "use .mkv or .mov")
        : RetrogradeError(
          .missingPlugin, about: output, "no encoder is installed for any video codec of this container",
          remedy: "\(PackageHint.all)")
    }
    log(best, "video", as: source, of: candidates, options, output)
    return best
  }

  /// Returns the codec for an audio stream.
  static func audioCodec(
    _ track: AudioTrack, _ container: Container, _ options: EncodingOptions, _ output: String, isAlone: Bool
  ) throws -> Codec {
    if let name = options.audioCodec { return try named(name, .audioCodec, container, output) }
    let pcm = Codec("audio/x-raw")
    let usual = container.audioCodecs.compactMap { Codec($0) }
    // Keep PCM only if it is usual in the container: some muxers accept PCM in containers in which
    // few players expect it.
    let source = Codec(of: track.codec).flatMap { $0.isRaw && !usual.contains($0) ? nil : $0 }
    // In a container without audio timestamps, only a codec without priming keeps audio and video
    // in sync.
    let mustBeExact = container.needsAudioFromStart && !isAlone
    var candidates = (mustBeExact ? [] : [source].compactMap { $0 }) + usual
    if options.quality == .lossless { candidates = [Codec("audio/x-flac"), pcm].compactMap { $0 } }
    let possible = candidates.filter { codec in
      codec.isRaw
        ? container.takes(track.caps) || container.takes(codec.caps)
        : codec.encoder != nil && container.takes(codec.caps)
    }
    // Prefer codecs that need no downmix. Opus is added as a candidate for this reason: Opus can
    // hold eight channels, but the AAC encoder accepts only six.
    let wide = options.quality == .lossless ? [] : [Codec("audio/x-opus")].compactMap { $0 }
    let fitting = (possible + wide.filter { $0.encoder != nil && container.takes($0.caps) }).filter {
      AudioForm(track.caps, for: $0, in: container)?.mixedCaps == nil
    }
    // For lossless output, prefer a codec that accepts the samples without conversion.
    let exact = possible.first { $0.encodes(track.caps) }
    if options.quality == .lossless, exact == nil, possible.isEmpty {
      throw RetrogradeError(
        .usage, about: output, "this container can't hold lossless audio", remedy: "use .mkv, .mov, .wav or .flac")
    }
    guard let best = (options.quality == .lossless ? exact : nil) ?? fitting.first ?? possible.first else {
      throw RetrogradeError(
        .missingPlugin, about: output, "no encoder is installed for any audio codec of this container",
        remedy: "\(PackageHint.all)")
    }
    log(best, "audio", as: source, of: candidates, options, output)
    return best
  }

  private static func log(
    _ best: Codec, _ kind: String, as source: Codec?, of candidates: [Codec], _ options: EncodingOptions,
    _ output: String
  ) {
    Log.encode.info(
      "\(output): \(kind) in \(best.text) by \(best.encoder ?? "no encoder"), "
        + (options.quality == .lossless
          ? "which is lossless" : best == source ? "as in the source" : "the first that fits this container")
        + ", of \(candidates.map(\.text).joined(separator: "; "))")
  }

  private static func named(
    _ name: String, _ setting: Setting, _ container: Container, _ output: String
  ) throws -> Codec {
    guard let codec = Codec(named: name) else {
      throw RetrogradeError(
        .usage, "\(setting: setting) \(name): no such codec; use a name such as h264 or aac, or GStreamer caps")
    }
    guard codec.isRaw || codec.encoder != nil else {
      throw RetrogradeError(
        .missingPlugin, "\(setting: setting) \(name): no encoder for this codec is installed",
        remedy: "\(PackageHint.all)")
    }
    if ["avenc_mpeg2video", "avenc_mpeg4"].contains(codec.encoder), Quirk.avencTimeBase.applies {
      throw RetrogradeError(
        .missingPlugin,
        "\(setting: setting) \(name): the encoder does not work in GStreamer 1.22.0; 1.22.1 fixed this",
        remedy: "use \(setting: .videoCodec) h264")
    }
    guard container.takes(codec.caps) else {
      throw RetrogradeError(.usage, about: output, "this container can't hold \(name)")
    }
    Log.encode.info("\(output): \(codec.text) by \(codec.encoder ?? "no encoder"), which was asked for")
    return codec
  }
}
