import GStreamer
import MediaTime
import RetrogradeEngine

/// Container and codecs of the output, and the encoding profile that names them to `encodebin`.
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
    /// Change of its frames' shape; nil for packets.
    var geometry: FrameGeometry?
    /// Whether the pixels say how much of them is seen.
    var hasAlpha = false
    /// Whether an encoder of images gets them with the halved colour that they have.
    var isHalved = false
    /// The form in which packets are written that are not encoded; nil where frames are encoded.
    var packets: PacketForm?

    /// True if the change of shape needs whole frames, made of interlaced ones.
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
  /// Rate, channels and loudspeakers in which each audio stream reaches its encoder.
  var audioForms: [AudioForm] = []
  /// How many sample frames of each audio stream there are to encode; nil where that is not known.
  var sampleCounts: [Int?] = []
  /// The bits per second that the encoder of each audio stream is asked for; nil where it keeps to a quality.
  var audioBitrates: [Int?] = []
  /// The encoding profile of each audio stream by itself.
  var audioProfiles: [String] = []
  /// The subtitles that are written, as the container takes them.
  var subtitles: [SubtitleTrack] = []
  var warnings: [Warning] = []
  /// Streams that change to another codec.
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
  ///   - container: nil: the container by the output's name, or by the format that is asked for.
  ///   - videos: the raw frames, and the codec that they came in; packets that are written as they are, and
  ///     their form.
  ///   - subtitlesApart: place of the subtitles that also get a file of their own.
  ///   - heard: the legs of the audio.
  ///   - frameRate: the average number of frames per second.
  init(
    output: String, in container: Container? = nil, videos: [(raw: Caps, index: VideoIndex, packets: PacketForm?)],
    audio: [AudioTrack],
    subtitles: [SubtitleTrack] = [], subtitlesApart: Int? = nil,
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
          .usage, "\(setting: option): \(setting: .profile) holds all encoding settings",
          remedy: "put it into the profile")
      }
      if container.animation != nil {
        throw RetrogradeError(
          .usage, about: output, "\(setting: option): animations have no such setting",
          remedy: "\(setting: .maxSize), \(setting: .width) and \(setting: .frameRate) make it smaller"
            + (container.animation == .gif ? ", and \(setting: .colors)" : ""))
      }
      if container.videoCodecs.isEmpty {
        throw RetrogradeError(.usage, "\(setting: option): no video is encoded into \(output)")
      }
      if videos.isEmpty {
        // The source may have videos that can't be read, which is no mistake of the user who asks for this.
        let names = Message.list(options.forOneEncoder, " and ")
        warnings.append(Warning(.detailLeftOut, "left out: \(names), since there is no video to encode"))
      }
    }
    try checkSize(options, output)
    if container.imageFormat != nil {
      guard let video = videos.first else {
        throw RetrogradeError(.usage, about: output, "holds images, and there is no video to make them from")
      }
      var choice = try videoChoice(video, options)
      if case .file(let encoder, nil)? = container.imageFormat {
        choice.format = EncodingChoice.closestFormat(to: choice.geometry?.caps ?? video.raw, for: encoder)
      }
      self.videos = [choice]
      note(EncodingChoice.change(from: Codec(of: video.index.caps), to: nil, video.raw, container, options, named))
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
        note(EncodingChoice.change(from: Codec(of: video.index.caps), to: codec, raw, container, options, named))
        if choice.hasAlpha, codec.text != EncoderSettings.alphaCodec {
          warnings.append(
            Warning(
              .detailLeftOut,
              "left out: the video's transparency, if it has any; .webp, .apng and .png keep it, and .mkv with \(setting: .keepsAlpha)"
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
          if options.quality == .lossless, !codec.encodes(raw) {
            choice.format = try exactFormat(for: raw, codec, output)
          }
          choice.bitrate = settings.bitrate(of: encoder, raw)
          try EncodingChoice.check(options.encoderOptions, of: encoder)
          if encoder == "x264enc",
            container.lacksTimes || container.isTransportStream && EncodingChoice.holds(video.index, legs)
          {
            choice.settings.append((name: "bframes", value: "0"))
          }
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
      note(
        EncodingChoice.change(
          from: Codec(of: track.codec), to: codec, container, options, named,
          isUntimed: container.needsAudioFromStart && !self.videos.isEmpty, raw: track.caps))
      if options.quality == .lossless { noteRounding(of: track, in: codec) }
      try addForm(of: track, in: codec, output)
      if !container.holdsLoudspeakers(of: track, in: codec) {
        warnings.append(
          Warning(
            .detailLeftOut,
            "left out: the places of the \(track.channels) audio channels, which this container can't hold; .wav does",
            count: track.channels))
      }
      let samples = heard.flatMap { AudioPlayer(track, $0, isPadded: container.needsAudioFromStart).sampleCount }
      sampleCounts.append(samples)
      let settings = EncoderSettings(
        options: options, sourceBitrate: track.bitrate, frameRate: frameRate)
      let form = audioForms.last
      let (rate, channels) = (form?.rate ?? track.rate, form?.mixedCaps?.int("channels") ?? track.channels)
      try checkLength(of: samples, track.rate, in: codec, output)
      let chosen = codec.encoder.map { settings.audio($0, rate: rate, channels: channels) } ?? []
      audioBitrates.append(chosen.first { $0.name == "bitrate" }.flatMap { Int($0.value) })
      audioProfiles.append(EncodingChoice.stream(codec.text, chosen))
    }
    guard !self.videos.isEmpty || !audioProfiles.isEmpty else {
      throw RetrogradeError(.usage, about: output, "this container holds only audio, and there is none to write")
    }
    for (number, track) in subtitles.enumerated() {
      if let form = options.profile == nil ? track.form(for: container) : nil {
        self.subtitles.append(form)
      } else if number != subtitlesApart {
        let title = track.tags?.string("language-code").map { " (\($0))" } ?? ""
        warnings.append(
          Warning(
            .streamLeftOut,
            "left out: subtitles\(title), which this container can't hold; .mkv holds all, .mp4 text", count: 1))
      }
    }
    for warning in warnings { Log.encode.info("\(output): \(warning.message)") }
    profile = options.profile ?? profileOfAll
  }

  /// How many cover pictures the output has room for: in Ogg one, beside Vorbis or Opus (`METADATA_BLOCK_PICTURE`).
  var mostCovers: Int {
    guard container.isOgg else { return container.mostCovers }
    return audioCodecs.contains { ["audio/x-vorbis", "audio/x-opus"].contains($0.caps.mediaType) } ? 1 : 0
  }

  /// Encoding profile of the file. Each stream's own profile is for one stream: without a presence,
  /// `encodebin` takes the first of its kind for all streams of that kind.
  private var profileOfAll: String {
    let streams = videos.map(\.profile) + audioProfiles
    guard let container = container.caps else { return streams.joined(separator: ":") }
    return ([container] + streams.map { $0 + EncodingChoice.presence }).joined(separator: ":")
  }

  /// Profile of a file that holds samples as they are, and nothing else.
  static func profile(ofSamplesIn container: Container) -> String {
    "\(container.caps ?? ""):audio/x-raw\(presence)"
  }

  private static let presence = "|presence=1"

  private mutating func note(_ change: CodecChange?) { changes += [change].compactMap { $0 } }

  private static func stream(_ caps: String, _ properties: [(name: String, value: String)]) -> String {
    guard !properties.isEmpty else { return caps }
    return caps + "|element-properties," + properties.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
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

  /// Finds out whether frames of the size of `raw` can be encoded, and put into the container: muxers have limits of
  /// their own.
  private static func check(_ raw: Caps, _ codec: Codec, _ container: Container, _ output: String) throws {
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
          .converted,
          "changed: interlaced frames become progressive, for \(settings): fields can't be cropped or rotated"))
    }
    return VideoChoice(
      geometry: geometry, hasAlpha: video.raw.hasAlpha,
      isHalved: options.quality != .lossless
        && ["I420", "YV12", "NV12", "NV21"].contains(video.raw.string("format")))
  }

  /// Whether a frame is shown for more than a second. With B-frames the next ones may be decoded as much before they
  /// are shown, which transport streams do not allow (ISO/IEC 13818-1, 2.4.2.6); `tsdemux` drops timestamps that are
  /// five seconds from each other.
  private static func holds(_ video: VideoIndex, _ legs: PlaybackLegs?) -> Bool {
    let long = ClockTime(seconds: 1)
    guard let starts = video.starts, let shown = video.duration else { return true }
    return zip(starts, starts.dropFirst()).contains { $1 - $0 > long }
      || legs.map { $0.presentation.span.duration > shown + long } ?? false
  }

  /// The format for an encoder that does not take that of `raw`, with all of its chroma and the most bits; nil where
  /// none has that, or it does take it. `videoconvert` would choose less chroma.
  private static func closestFormat(to raw: Caps, for encoder: String) -> String? {
    guard !Registry.factory(encoder, takes: raw), let own = raw.string("format").flatMap({ PixelFormat($0) }) else {
      return nil
    }
    return own.ofSameChroma.first { Registry.factory(encoder, takes: raw.setting("format", $0.name)) }?.name
  }
}
