import GStreamer
import MediaTime
import RetrogradeEngine

/// What the output is to be made of: container, codecs, and the encoding profile that says so to `encodebin`.
struct EncodingChoice: Sendable {
  /// How a video stream is written.
  struct VideoChoice: Sendable {
    /// nil in formats of images.
    var codec: Codec?
    /// The properties of its encoder.
    var settings: [(name: String, value: String)] = []
    /// The bits per second that its encoder is asked for; nil where it keeps to a quality instead.
    var bitrate: Int?
    /// The encoding profile of the stream by itself.
    var profile = ""
    /// The pixel format that the encoder needs, where it can't take the source's own.
    var format: String?
    /// What becomes of its frames' shape; nil of packets.
    var geometry: FrameGeometry?
    /// Whether the pixels say how much of them is seen.
    var hasAlpha = false
    /// Whether an encoder of images gets them with the halved colour that they have.
    var isHalved = false
    /// The form in which packets are written that nobody encodes; nil where frames are encoded.
    var packets: PacketForm?

    /// Whether interlaced frames are made whole ones for what is to become of them.
    var deinterlaces: Bool { geometry?.deinterlaces ?? false }

    /// How the output has to be turned to be shown: GST_TAG_IMAGE_ORIENTATION.
    /// - Parameter own: the source's.
    func orientation(_ own: String?, in container: Container) -> String? {
      guard let geometry else { return container.carriesOrientation ? own : nil }
      return geometry.orientation
    }
  }

  /// In GStreamer's serialised syntax for encoding profiles.
  var profile = ""
  var container: Container
  var videos: [VideoChoice] = []
  var audioCodecs: [Codec] = []
  /// How the channels of each audio stream are to be called for its encoder, as a mask; nil: as they are.
  var channelMasks: [UInt64?] = []
  /// How many sample frames of each audio stream there are to encode; nil where that is not known.
  var sampleCounts: [Int?] = []
  /// The bits per second that the encoder of each audio stream is asked for; nil where it keeps to a quality.
  var audioBitrates: [Int?] = []
  /// The encoding profile of each audio stream by itself.
  var audioProfiles: [String] = []
  /// The subtitles that are written, as the container takes them.
  var subtitles: [SubtitleTrack] = []
  var warnings: [Warning] = []
  /// What of the source becomes another codec.
  var changes: [CodecChange] = []
  /// Whether interlaced frames are made whole ones.
  var deinterlaces = false

  /// The muxer for streams that `encodebin` has no way to take: packets, and subtitles.
  var muxer: String {
    container.muxers.first { muxer in
      (videos.compactMap { $0.packets?.taken ?? $0.codec?.caps } + audioCodecs.map(\.caps) + subtitles.map(\.caps))
        .allSatisfy {
          Registry.factory(muxer, takes: $0)
        }
    } ?? container.muxers.first ?? ""
  }

  /// - Parameters:
  ///   - container: nil: what the output's name, or the format that is asked for, says.
  ///   - videos: the raw frames, and the codec that they came in; packets that are written as they are, and their form.
  ///   - heard: the legs of the audio.
  ///   - frameRate: the average number of frames per second.
  init(
    output: String, in container: Container? = nil, videos: [(raw: Caps, index: VideoIndex, packets: PacketForm?)],
    audio: [AudioTrack],
    subtitles: [SubtitleTrack] = [],
    legs: PlaybackLegs? = nil, heard: PlaybackLegs? = nil, duration: ClockTime, frameRate: Double,
    options: EncodingOptions
  ) throws {
    let container = try container ?? Container.of(output, format: options.format)
    self.container = container
    let named = Container.fileName(output, format: options.format)
    deinterlaces = options.deinterlaces
    var videos = videos
    var audio = audio
    if container.holdsOneVideo && videos.count > 1 {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: all video but the first stream; this format holds one", count: videos.count - 1)
      )
      videos = [videos[0]]
    }
    if let profile = options.profile, !Registry.isEncodingProfile(profile) {
      throw RetrogradeError(
        .usage,
        "\(setting: .profile) \(profile): is neither an encoding profile in GStreamer's syntax nor an encoding target's name"
      )
    }
    if let option = options.forOneEncoder.first {
      if options.profile != nil {
        throw RetrogradeError(
          .usage, "\(setting: option): \(setting: .profile) says all of how it is encoded",
          remedy: "put it into the profile")
      }
      if container.animation != nil {
        throw RetrogradeError(
          .usage, about: output, "\(setting: option): there is no such setting of an animation's encoder",
          remedy: "\(setting: .maxSize), \(setting: .width) and \(setting: .frameRate) make it smaller"
            + (container.animation == .gif ? ", and \(setting: .colors)" : ""))
      }
      if container.videoCodecs.isEmpty {
        throw RetrogradeError(.usage, "\(setting: option): \(output) has no encoder of video that it could be for")
      }
      if videos.isEmpty {
        // The source may have some that can't be read, which is no mistake of whoever asks for this.
        let names = Message.list(options.forOneEncoder, " and ")
        warnings.append(Warning(.detailLeftOut, "left out: \(names), which is for video: there is none to encode"))
      }
    }
    try checkSize(options, output)
    if container.imageFormat != nil {
      guard let video = videos.first else {
        throw RetrogradeError(.usage, about: output, "holds images, and there are none to write")
      }
      self.videos = [try videoChoice(video, options)]
      changes += [
        EncodingChoice.change(from: Codec(of: video.index.caps), to: nil, video.raw, container, options, named)
      ]
      .compactMap { $0 }
      if !audio.isEmpty {
        warnings.append(
          Warning(.streamLeftOut, "left out: the audio, which this format can't hold", count: audio.count))
      }
      if !subtitles.isEmpty {
        warnings.append(
          Warning(.streamLeftOut, "left out: the subtitles, which this format can't hold", count: subtitles.count))
      }
      return
    }
    if !container.videoCodecs.isEmpty {
      for video in videos {
        if let packets = video.packets {
          self.videos.append(VideoChoice(codec: Codec(of: video.raw), packets: packets))
          continue
        }
        var choice = try videoChoice(video, options)
        let raw = choice.geometry?.caps ?? video.raw
        let codec = try EncodingChoice.videoCodec(choice, video, container, options, output)
        choice.codec = codec
        changes += [
          EncodingChoice.change(
            from: Codec(of: video.index.caps), to: codec, raw, container, options, named)
        ].compactMap { $0 }
        if choice.hasAlpha, !EncoderSettings.alphaCodecs.contains(codec.text) {
          warnings.append(
            Warning(
              .detailLeftOut,
              "left out: the video's transparency, if it has any; .webp, .apng and .png keep it, and \(setting: .videoCodec) ffv1"
            ))
        }
        // Colour at full resolution has no odd half.
        if !codec.encodes(raw), EncoderSettings.hasOddSubsampledSize(raw) { choice.format = "Y444" }
        // Video encoders would take it at full resolution too, which phones and browsers don't play.
        if video.raw.isRGB, options.quality != .lossless, EncoderSettings.chroma420Codecs.contains(codec.text) {
          choice.format = EncoderSettings.isOdd(raw) ? "Y444" : "I420"
        }
        if let encoder = codec.encoder {
          try EncodingChoice.check(raw, codec, container, output)
          let settings = EncoderSettings(
            options: options,
            sourceBitrate: EncodingChoice.bitrate(video.index, duration).map {
              Int(Double($0) * (legs?.meanSpeed ?? 1) * (choice.geometry?.rateShare ?? 1))
            },
            frameRate: frameRate)
          choice.settings = try settings.video(encoder, raw)
          choice.bitrate = settings.bitrate(of: encoder, raw)
          try EncodingChoice.check(options.encoderOptions, of: encoder)
          if container.lacksTimes, encoder == "x264enc" { choice.settings.append((name: "bframes", value: "0")) }
          choice.profile = EncodingChoice.stream(codec.profile + "|variable-framerate=true", choice.settings)
        }
        self.videos.append(choice)
      }
    } else if !videos.isEmpty {
      warnings.append(
        Warning(.streamLeftOut, "left out: the video, which this container can't hold", count: videos.count))
    }
    if audio.count > 1 && container.holdsOneStream {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: all audio but the first stream; this container holds one", count: audio.count - 1))
      audio = [audio[0]]
    }
    for track in audio {
      let codec = try EncodingChoice.audioCodec(track, container, options, output, isAlone: self.videos.isEmpty)
      audioCodecs.append(codec)
      changes += [
        EncodingChoice.change(
          from: Codec(of: track.codec), to: codec, container, options, named,
          isUntimed: container.needsAudioFromStart && !self.videos.isEmpty)
      ].compactMap { $0 }
      channelMasks.append(EncodingChoice.channelMask(track.caps, codec))
      let samples = heard.flatMap { AudioPlayer(track, $0, isPadded: container.needsAudioFromStart).sampleCount }
      sampleCounts.append(samples)
      if codec.encoder == "flacenc", container.caps == nil, let samples, samples < FLACBlocks.fewestSamples {
        throw RetrogradeError(
          .usage,
          about: output,
          "no FLAC file is made of less than \(FLACBlocks.fewestSamples) samples, and there are \(samples)",
          remedy: "write .wav"
        )
      }
      let settings = EncoderSettings(
        options: options, sourceBitrate: track.bitrate, frameRate: frameRate)
      let chosen = codec.encoder.map { settings.audio($0, rate: track.rate, channels: track.channels) } ?? []
      audioBitrates.append(chosen.first { $0.name == "bitrate" }.flatMap { Int($0.value) })
      audioProfiles.append(EncodingChoice.stream(codec.text, chosen))
    }
    guard !self.videos.isEmpty || !audioProfiles.isEmpty else {
      throw RetrogradeError(.usage, about: output, "this container holds audio, and there is none to write")
    }
    for track in subtitles {
      if let form = options.profile == nil ? track.form(for: container) : nil {
        self.subtitles.append(form)
      } else {
        let title = track.tags?.string("language-code").map { " (\($0))" } ?? ""
        warnings.append(
          Warning(
            .streamLeftOut,
            "left out: subtitles\(title), which this container can't hold; .mkv holds all, .mp4 text", count: 1))
      }
    }
    for warning in warnings { Log.encode.info("\(output): \(warning.message)") }
    profile =
      options.profile
      ?? ([container.caps].compactMap { $0 } + self.videos.map(\.profile) + audioProfiles).joined(separator: ":")
  }

  private static func stream(_ caps: String, _ properties: [(name: String, value: String)]) -> String {
    guard !properties.isEmpty else { return caps }
    return caps + "|element-properties," + properties.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
  }

  /// Opus, Vorbis and AAC call the loudspeakers behind people rear ones, where AC-3 and DTS have them at the sides; told of
  /// those, GStreamer 1.22's audioconvert mixes all into one channel.
  private static func channelMask(_ caps: Caps, _ codec: Codec) -> UInt64? {
    guard ["audio/x-opus", "audio/x-vorbis", "audio/mpeg"].contains(codec.caps.mediaType),
      let mask = caps.channelMask
    else { return nil }
    // GstAudioChannelPosition: places 4 and 5, 10 and 11.
    let (rear, side): (UInt64, UInt64) = (0x30, 0xC00)
    return mask & side == side && mask & rear == 0 ? mask & ~side | rear : nil
  }

  /// Codecs that lose nothing: how many bits they take says nothing of how many the same look takes.
  private static let lossless: Set<String> = [
    "image/png", "image/bmp", "image/tiff", "video/x-raw", "video/x-ffv", "video/x-huffyuv", "video/x-gst-av-ffvhuff",
    "video/x-gst-av-utvideo", "video/x-gst-av-magicyuv", "video/x-lagarith", "video/x-zmbv", "video/x-camtasia",
    "video/x-rle",
  ]

  /// The bits per second of a source; nil where they tell nothing.
  private static func bitrate(_ index: VideoIndex, _ duration: ClockTime) -> Int? {
    let duration = index.duration ?? duration
    guard index.bytes > 0, duration > .zero, !lossless.contains(index.caps.mediaType) else { return nil }
    return Int(Double(index.bytes) * 8 / duration.seconds)
  }

  /// Finds out whether frames of the size of `raw` can be encoded, and put into the container: muxers have limits of their own.
  private static func check(_ raw: Caps, _ codec: Codec, _ container: Container, _ output: String) throws {
    guard let width = raw.int("width"), let height = raw.int("height"), !takesSize(of: raw, codec, container) else {
      return
    }
    throw RetrogradeError(
      .usage,
      about: output, "\(codec.caps.codecName) of \(width)x\(height) can't be put into it",
      remedy: "\(setting: .width) makes another size, and "
        + ".mkv with \(setting: .videoCodec) ffv1, and numbered .png, hold every size")
  }

  private static func takesSize(of raw: Caps, _ codec: Codec, _ container: Container) -> Bool {
    guard let width = raw.int("width"), let height = raw.int("height"), let encoder = codec.encoder,
      let frame = Caps("video/x-raw,width=\(width),height=\(height)")
    else { return true }
    return max(width, height) <= EncoderSettings.largest[encoder] ?? .max && Registry.factory(encoder, takes: frame)
      && container.takes(codec.caps.setting("width", "\(width)").setting("height", "\(height)"))
  }

  private static func videoCodec(
    _ choice: VideoChoice, _ video: (raw: Caps, index: VideoIndex, packets: PacketForm?), _ container: Container,
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
      // FFV1 where the container takes it; H.264's lossless mode elsewhere.
      candidates = [Codec("video/x-ffv,ffvversion=1"), Codec("video/x-h264")].compactMap { $0 }
    } else {
      candidates = [source].compactMap { $0 } + usual
    }
    let possible = candidates.filter { $0.encoder != nil && container.takes($0.caps) }
    // Rather another codec than another pixel format or size.
    let raw = choice.geometry?.caps ?? video.raw
    let fitting = possible.filter { takesSize(of: raw, $0, container) }
    guard let best = fitting.first(where: { $0.encodes(raw) }) ?? fitting.first ?? possible.first else {
      throw options.quality == .lossless
        ? RetrogradeError(
          .usage, about: output, "this container holds no lossless video", remedy: "use .mkv or .mov")
        : RetrogradeError(
          .missingPlugin, about: output, "no encoder for any codec that this container takes",
          remedy: "\(PackageHint.all)")
    }
    Log.encode.info(
      "\(output): video in \(best.text) by \(best.encoder ?? "no encoder"), "
        + (options.quality == .lossless
          ? "which is lossless" : best == source ? "as in the source" : "the first that fits this container")
        + ", of \(candidates.map(\.text).joined(separator: "; "))")
    return best
  }

  private static func audioCodec(
    _ track: AudioTrack, _ container: Container, _ options: EncodingOptions, _ output: String, isAlone: Bool
  ) throws -> Codec {
    if let name = options.audioCodec { return try named(name, .audioCodec, container, output) }
    let pcm = Codec("audio/x-raw")
    let usual = container.audioCodecs.compactMap { Codec($0) }
    // Muxers take PCM where few players expect it.
    let source = Codec(of: track.codec).flatMap { $0.isRaw && !usual.contains($0) ? nil : $0 }
    // Where audio has no timestamps, beside video, only a codec without priming keeps sync.
    let mustBeExact = container.needsAudioFromStart && !isAlone
    var candidates = (mustBeExact ? [] : [source].compactMap { $0 }) + usual
    if options.quality == .lossless { candidates = [Codec("audio/x-flac"), pcm].compactMap { $0 } }
    let possible = candidates.filter { codec in
      codec.isRaw
        ? container.takes(track.caps) || !container.takes(track.caps) && container.takes(codec.caps)
        : codec.encoder != nil && container.takes(codec.caps)
    }
    // Only what takes the samples as they are loses nothing.
    let exact = possible.first { $0.encodes(track.caps) }
    if options.quality == .lossless, exact == nil, possible.isEmpty {
      throw RetrogradeError(
        .usage, about: output, "this container holds no lossless audio", remedy: "use .mkv, .mov, .wav or .flac")
    }
    guard let best = (options.quality == .lossless ? exact : nil) ?? possible.first else {
      throw RetrogradeError(
        .missingPlugin, about: output, "no encoder for any audio that this container takes",
        remedy: "\(PackageHint.all)")
    }
    Log.encode.info(
      "\(output): audio in \(best.text) by \(best.encoder ?? "no encoder"), "
        + (options.quality == .lossless
          ? "which is lossless" : best == source ? "as in the source" : "the first that fits this container")
        + ", of \(candidates.map(\.text).joined(separator: "; "))")
    return best
  }

  private static func named(
    _ name: String, _ setting: Setting, _ container: Container, _ output: String
  ) throws -> Codec {
    guard let codec = Codec(named: name) else {
      throw RetrogradeError(
        .usage, "\(setting: setting) \(name): no such codec; a name such as h264 or aac, or GStreamer caps")
    }
    guard codec.isRaw || codec.encoder != nil else {
      throw RetrogradeError(
        .missingPlugin, "\(setting: setting) \(name): no encoder for it is installed", remedy: "\(PackageHint.all)")
    }
    guard container.takes(codec.caps) else {
      throw RetrogradeError(.usage, about: output, "this container does not take \(name)")
    }
    Log.encode.info("\(output): \(codec.text) by \(codec.encoder ?? "no encoder"), which was asked for")
    return codec
  }
}

extension EncodingChoice {
  /// How frames of `video` are written, but for their codec.
  private mutating func videoChoice(
    _ video: (raw: Caps, index: VideoIndex, packets: PacketForm?), _ options: EncodingOptions
  ) throws -> VideoChoice {
    let geometry = try FrameGeometry(
      video.raw, orientation: video.index.tags?.string("image-orientation"), options.framing, for: container)
    if geometry.deinterlaces, !options.deinterlaces {
      let settings = Message.list(options.framing.settings, " and ")
      warnings.append(
        Warning(
          .converted, "changed: interlaced frames are made whole ones, for \(settings): fields can't be cut or turned"))
    }
    return VideoChoice(
      geometry: geometry, hasAlpha: video.raw.hasAlpha,
      isHalved: options.quality != .lossless
        && ["I420", "YV12", "NV12", "NV21"].contains(video.raw.string("format")))
  }
}

extension EncodingChoice {
  /// Finds out whether what is asked for of the file's size, and of its colours, can be done.
  private func checkSize(_ options: EncodingOptions, _ output: String) throws {
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
        "\(setting: rival) asks for a size of its own" + (rival == .quality ? ": nothing is to be lost" : ""))
    }
    switch container.imageFormat {
    case .sequence: throw refused("numbered images are many files")
    case .animation(.apng): throw refused("nothing is lost in APNG; .webp and .gif can be made smaller")
    default: break
    }
  }
}
