import GStreamer
import MediaTime
import RetrogradeEngine

extension EncodingChoice {
  /// Adds the video of an output in an image format. Such an output has no audio and no subtitles.
  mutating func addImages(of streams: Streams, _ options: EncodingOptions, _ output: String) throws {
    guard let video = streams.videos.first else {
      throw RetrogradeError(.usage, about: output, "images can't be written, since the source has no video")
    }
    var choice = try videoChoice(video, options)
    if case .file(let encoder, nil)? = container.imageFormat {
      choice.format = EncodingChoice.closestFormat(to: choice.geometry?.caps ?? video.raw, for: encoder)
    }
    videos = [choice]
    note(
      EncodingChoice.change(
        from: Codec(of: video.index.caps), to: nil, video.raw, container, options,
        Container.fileName(output, format: options.format)))
    if !streams.audio.isEmpty {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: the audio, which this format can't hold", count: streams.audio.count))
    }
    if !streams.subtitles.isEmpty {
      warnings.append(
        Warning(
          .streamLeftOut, "left out: the subtitles, which this format can't hold", count: streams.subtitles.count))
    }
  }

  mutating func addVideos(of streams: Streams, _ options: EncodingOptions, _ output: String) throws {
    guard !container.videoCodecs.isEmpty || streams.videos.isEmpty else {
      return warnings.append(
        Warning(
          .streamLeftOut, "left out: the video, which this container can't hold", count: streams.videos.count))
    }
    for video in streams.videos {
      if let packets = video.packets {
        videos.append(VideoChoice(codec: Codec(of: video.raw), packets: packets))
      } else {
        videos.append(try encodedVideo(video, streams, options, output))
      }
    }
  }

  /// Returns the codec and settings for a video that is encoded from frames.
  private mutating func encodedVideo(
    _ video: Streams.Video, _ streams: Streams, _ options: EncodingOptions, _ output: String
  ) throws -> VideoChoice {
    var choice = try videoChoice(video, options)
    let raw = choice.geometry?.caps ?? video.raw
    let codec = try EncodingChoice.videoCodec(choice, video, container, options, output)
    choice.codec = codec
    note(
      EncodingChoice.change(
        from: Codec(of: video.index.caps), to: codec, raw, container, options,
        Container.fileName(output, format: options.format)))
    if choice.hasAlpha, codec.text != EncoderSettings.alphaCodec {
      warnings.append(
        Warning(
          .detailLeftOut,
          "left out: the video's transparency, if it has any; use .webp, .apng or .png, or .mkv with "
            + "\(setting: .keepsAlpha), to keep it"
        ))
    }
    // Use 4:4:4 for an odd size, because this encoder refuses odd sizes with subsampled chroma.
    if !codec.encodes(raw), EncoderSettings.hasOddSubsampledSize(raw) { choice.format = "Y444" }
    // Convert RGB to 4:2:0 if the size is even: encoders would encode RGB as 4:4:4, which phones
    // and browsers don't play.
    if video.raw.isRGB, options.quality != .lossless, EncoderSettings.chroma420Codecs.contains(codec.text) {
      choice.format = EncoderSettings.isOdd(raw) ? "Y444" : "I420"
    }
    if let encoder = codec.encoder {
      try EncodingChoice.check(raw, codec, container, output)
      try setEncoder(encoder, of: &choice, video, streams, options)
      if options.quality == .lossless, !codec.encodes(raw) { choice.format = try exactFormat(for: raw, codec, output) }
      choice.profile = EncodingChoice.stream(codec.profile + "|variable-framerate=true", choice.settings)
    }
    return choice
  }

  private func setEncoder(
    _ encoder: String, of choice: inout VideoChoice, _ video: Streams.Video, _ streams: Streams,
    _ options: EncodingOptions
  ) throws {
    let raw = choice.geometry?.caps ?? video.raw
    let share = (streams.legs?.meanSpeed ?? 1) * (choice.geometry?.rateShare ?? 1)
    let settings = EncoderSettings(
      options: options,
      sourceBitrate: EncodingChoice.bitrate(video.index, streams.duration).map { Int(Double($0) * share) },
      frameRate: streams.frameRate)
    choice.settings = try settings.video(encoder, raw)
    choice.bitrate = settings.bitrate(of: encoder, raw)
    try EncodingChoice.check(options.encoderOptions, of: encoder)
    if encoder == "x264enc",
      container.lacksTimes || container.isTransportStream && EncodingChoice.holds(video.index, streams.legs)
    {
      choice.settings.append((name: "bframes", value: "0"))
    }
  }

  /// Lossless codecs. The bit rate of a lossless stream says nothing about the bit rate that a
  /// lossy codec needs.
  static let losslessCodecs: Set<String> = [
    "image/png", "image/bmp", "image/tiff", "video/x-raw", "video/x-ffv", "video/x-huffyuv", "video/x-gst-av-ffvhuff",
    "video/x-gst-av-utvideo", "video/x-gst-av-magicyuv", "video/x-lagarith", "video/x-zmbv", "video/x-camtasia",
    "video/x-rle",
  ]

  /// Returns the bit rate of a source, in bits per second; nil if unknown, or if the codec is
  /// lossless.
  private static func bitrate(_ index: VideoIndex, _ duration: ClockTime) -> Int? {
    let duration = index.duration ?? duration
    guard index.bytes > 0, duration > .zero, !losslessCodecs.contains(index.caps.mediaType) else { return nil }
    return Int(Double(index.bytes) * 8 / duration.seconds)
  }

  /// Returns a choice for `video` that contains only the conversion of frames, without codec and
  /// settings.
  private mutating func videoChoice(
    _ video: Streams.Video, _ options: EncodingOptions
  ) throws -> VideoChoice {
    let geometry = try FrameGeometry(
      video.raw, orientation: video.index.tags?.string("image-orientation"), options.framing, for: container)
    if geometry.deinterlaces, !options.deinterlaces {
      let settings = Message.list(options.framing.settings, " and ")
      warnings.append(
        Warning(
          .converted,
          "changed: interlaced frames become progressive, since \(settings) can't be applied to separate fields"))
    }
    return VideoChoice(
      geometry: geometry, hasAlpha: video.raw.hasAlpha,
      isHalved: options.quality != .lossless
        && ["I420", "YV12", "NV12", "NV21"].contains(video.raw.string("format")))
  }

  /// True if a frame may be shown for more than a second. A transport stream must then have no
  /// B-frames: with B-frames, the following frames could be decoded more than a second before they
  /// are shown, which transport streams do not allow (ISO/IEC 13818-1, 2.4.2.6). `tsdemux` also
  /// drops timestamps that are five seconds apart.
  private static func holds(_ video: VideoIndex, _ legs: PlaybackLegs?) -> Bool {
    let long = ClockTime(seconds: 1)
    guard let starts = video.starts, let shown = video.duration else { return true }
    return zip(starts, starts.dropFirst()).contains { $1 - $0 > long }
      || legs.map { $0.presentation.span.duration > shown + long } ?? false
  }

  /// Returns a pixel format that the encoder accepts, with the chroma resolution of `raw` and the
  /// most bits. Without this choice, `videoconvert` would use a format with less chroma. nil if
  /// there is no such format, or if the encoder accepts the format of `raw`.
  private static func closestFormat(to raw: Caps, for encoder: String) -> String? {
    guard !Registry.factory(encoder, takes: raw), let own = raw.string("format").flatMap({ PixelFormat($0) }) else {
      return nil
    }
    return own.ofSameChroma.first { Registry.factory(encoder, takes: raw.setting("format", $0.name)) }?.name
  }
}
