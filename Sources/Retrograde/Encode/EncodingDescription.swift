import Containers
import GStreamer
import RetrogradeEngine

/// Pipeline that writes the output of an `EncodingChoice`, in `gst-launch-1.0` syntax.
struct EncodingDescription {
  let path: String
  let choice: EncodingChoice
  /// Tags of each video stream.
  var videos: [TagList?] = []
  /// Tags of each audio stream.
  var audio: [TagList?] = []
  /// True if packets of the first video are pushed, not frames.
  var copiesVideo = false
  /// True if packets of the audio are pushed, not samples.
  var copiesAudio = false
  /// True if the audio is too long for the 32-bit lengths in the header of a WAV file. RF64 is then
  /// written instead (EBU Tech 3306).
  var isLongWave = false

  /// True if one `encodebin` can't handle all streams, because some streams are packets or
  /// subtitles. Each encoded stream then has a separate `encodebin`, and a muxer joins all streams.
  private var isInParts: Bool {
    copiesVideo || copiesAudio || !choice.subtitles.isEmpty || choice.videos.contains { $0.packets != nil }
  }

  /// True if the output is one stream of PCM audio. The samples go directly to the muxer, which has
  /// no other stream to wait for.
  private var areBareSamples: Bool {
    videos.isEmpty && audio.count == 1 && choice.audioCodecs[0].isRaw && choice.subtitles.isEmpty
      && choice.profile == EncodingChoice.profile(ofSamplesIn: choice.container) && !choice.muxer.isEmpty
  }

  var text: String {
    let location = Description.quoted(path)
    let file = "filesink name=file location=\(location)"
    let form = isLongWave ? ["audio/x-rf64"] : []
    if areBareSamples {
      return (samples(0, audio[0]) + ["\(choice.muxer) name=encode"] + form + [file]).joined(separator: " ! ")
    }
    var lines: [String] = []
    if choice.container.imageFormat == nil {
      lines.append(
        isInParts
          ? "\(choice.muxer) name=encode ! \(file)"
          : "encodebin name=encode flags=3 profile=\(Description.quoted(choice.profile))"
            + ([choice.container.tagger].compactMap { $0 } + form + [file]).map { " ! \($0)" }.joined())
    }
    for (number, tags) in videos.enumerated() {
      let isCopied = number == 0 && copiesVideo || choice.videos[number].packets != nil
      let form = choice.videos[number].packets
      lines.append(
        (isCopied
          ? packets(EncodingDescription.videoName(number), tags, form?.conversion ?? [], pad("video", number))
          : video(number, tags)).joined(separator: " ! "))
    }
    for (number, tags) in audio.enumerated() {
      lines.append(
        (copiesAudio
          // PCM is converted, since muxers accept only some sample formats.
          ? packets(
            "audio\(number)", tags,
            choice.audioCodecs[number].isRaw ? ["audioconvert dithering=none", "audioresample"] : [],
            pad("audio", number))
          : audio(number, tags)).joined(separator: " ! "))
    }
    for (number, track) in choice.subtitles.enumerated() {
      // The queue has no limits, because all cues are pushed at once: at a limit, the push would
      // block while the muxer waits for other streams.
      lines.append(
        (["appsrc name=text\(number) format=time max-buffers=0 max-bytes=0"] + inject(track.tags)
          + ["queue max-size-buffers=0 max-size-bytes=0 max-size-time=0", "encode.subtitle_\(number)"])
          .joined(separator: " ! "))
    }
    return lines.joined(separator: "\n")
  }

  static func videoName(_ number: Int) -> String { number == 0 ? "video" : "video\(number)" }

  private func packets(_ name: String, _ tags: TagList?, _ conversion: [String], _ pad: String) -> [String] {
    ["appsrc name=\(name) format=time block=true max-buffers=8 max-bytes=0"] + inject(tags)
      + conversion + ["queue", pad]
  }

  /// Returns the pipeline that encodes one video or audio stream into a packet file. The path of
  /// the file is set later.
  func kept(_ kind: StreamKind, _ number: Int, _ form: [String]) -> String {
    ([packets(kind, number, form)] + PacketFile.writing).joined(separator: " ! ")
  }

  /// Returns the pipeline that encodes one video or audio stream, without a sink for its packets.
  func packets(_ kind: StreamKind, _ number: Int, _ form: [String]) -> String {
    let encoding =
      kind == .video
      ? frames(number, nil) + ["encodebin profile=\(Description.quoted(choice.videos[number].profile))"]
      : samples(number, nil)
        + (choice.audioCodecs[number].isRaw
          ? [] : ["encodebin profile=\(Description.quoted(choice.audioProfiles[number]))"])
    return (encoding + form).joined(separator: " ! ")
  }

  /// Returns the name of a pad of the muxer or of `encodebin`. The pads of `encodebin` are numbered
  /// across all kinds of streams.
  private func pad(_ kind: String, _ number: Int) -> String {
    if isInParts { return choice.container.isTransportStream ? "encode." : "encode.\(kind)_\(number)" }
    return "encode.\(kind)_\(kind == "audio" ? videos.count + number : number)"
  }

  private func video(_ number: Int, _ tags: TagList?) -> [String] {
    let frame = choice.videos[number]
    let parts = frames(number, tags)
    switch choice.container.imageFormat {
    case nil: return parts + own(frame.profile) + [pad("video", number)]
    case .animation(let format):
      return parts + format.preparation(hasAlpha: frame.hasAlpha, isHalved: frame.isHalved)
        + ["appsink name=frames sync=false enable-last-sample=false max-buffers=4"]
    case .sequence(let encoder, let opaque):
      // Allow only opaque formats for opaque frames: `videoconvert` would otherwise choose a format
      // with alpha (`Quirk.videoconvertAlphaForOpaque`).
      return parts + (frame.hasAlpha ? [] : [EncodingDescription.filter(opaque)]) + [
        encoder, "multifilesink name=file index=1 location=\(Description.quoted(path))",
      ]
    case .file(let encoder, let opaque):
      let formats = frame.hasAlpha ? nil : opaque
      return parts
        + [
          formats.map(EncodingDescription.filter), encoder,
          "filesink name=file location=\(Description.quoted(path))",
        ].compactMap { $0 }
    }
  }

  /// Returns the tags of a video for the output: without the orientation tag if the output does not
  /// store the orientation.
  func written(_ number: Int, _ tags: TagList?) -> TagList? {
    let own = tags?.string("image-orientation")
    guard own != nil, choice.videos[number].orientation(own, in: choice.container) == nil else { return tags }
    return tags?.removing(["image-orientation"])
  }

  /// Returns the elements that convert frames for the encoder.
  private func frames(_ number: Int, _ tags: TagList?) -> [String] {
    let frame = choice.videos[number]
    var parts = [
      "appsrc name=\(EncodingDescription.videoName(number)) format=time block=true max-buffers=2 max-bytes=0"
    ]
    if choice.deinterlaces || frame.deinterlaces { parts += FrameGeometry.deinterlacing }
    parts += frame.geometry?.cutting ?? []
    parts += inject(written(number, tags))
    parts += frame.geometry?.scaling ?? []
    let isJPEG = frame.codec?.caps.mediaType == "image/jpeg" || choice.container.isJPEG
    let jpeg = isJPEG ? frame.geometry.map { JPEGFrames($0.caps, width: $0.size?.width ?? $0.caps.int("width")) } : nil
    let isTheora = frame.codec?.caps.mediaType == "video/x-theora"
    let theora = isTheora ? frame.geometry.flatMap { TheoraFrames($0.caps, format: frame.format) } : nil
    if let colours = jpeg?.colours ?? theora?.colours { parts += ["capssetter caps=\(Description.quoted(colours))"] }
    parts += jpeg?.preparation ?? theora?.preparation ?? []
    parts += ["videoconvert n-threads=2 dither=none"]
    if let format = frame.format { parts += ["video/x-raw,format=\(format)"] }
    if let caps = jpeg?.caps ?? theora?.caps { parts += [EncodingDescription.filter(caps)] }
    return parts
  }

  private static func filter(_ caps: String) -> String { "capsfilter caps=\(Description.quoted(caps))" }

  private func audio(_ number: Int, _ tags: TagList?) -> [String] {
    samples(number, tags)
      + (isInParts && choice.audioCodecs[number].isRaw ? ["queue"] : own(choice.audioProfiles[number]))
      + [pad("audio", number)]
  }

  /// Returns the elements that convert audio samples for the encoder.
  private func samples(_ number: Int, _ tags: TagList?) -> [String] {
    ["appsrc name=audio\(number) format=time block=true max-buffers=8 max-bytes=0"] + inject(tags)
      + choice.audioForms[number].elements
  }

  /// Returns the elements that encode a single stream; empty if all streams share one `encodebin`.
  private func own(_ profile: String) -> [String] {
    isInParts ? ["encodebin profile=\(Description.quoted(profile))", "queue max-size-time=2000000000"] : []
  }

  /// `video-direction` of videoflip for each value of GST_TAG_IMAGE_ORIENTATION.
  static let directions = [
    "rotate-90": "90r", "rotate-180": "180", "rotate-270": "90l", "flip-rotate-0": "horiz",
    "flip-rotate-90": "ur-ll", "flip-rotate-180": "vert", "flip-rotate-270": "ul-lr",
  ]

  /// Returns the element that adds a stream's tags. In MP4 and MOV, titles of streams are written
  /// separately (`MP4Header`), since FFmpeg reads a title among a stream's tags as the title of the
  /// file. In AVI, streams get no tags, since these would replace the file's tags
  /// (`Container.heldStreamTags`).
  private func inject(_ tags: TagList?) -> [String] {
    if choice.container.heldStreamTags == [] && !choice.container.isTransportStream { return [] }
    // Remove cover pictures from streams: MP4 holds cover pictures only for the whole file.
    let named =
      (choice.container.hasEditLists ? ["title", "image", "preview-image"] : []) + choice.container.miswrittenTags
    var kept = tags?.withPlainLanguage.removing(EncodingPipeline.technical + named)
    // Ogg stores comments in the stream itself (`CarriedDetails.oggComments(of:)`).
    if choice.container.isOgg { kept = kept.merging(TagList(comments: CarriedDetails.oggComments(of: tags))) }
    guard let kept, !kept.isEmpty else { return [] }
    let text = kept.description
    let body = text.hasPrefix("taglist, ") ? String(text.dropFirst("taglist, ".count)) : text
    let fields = body.hasSuffix(";") ? String(body.dropLast()) : body
    return ["taginject tags=\(Description.quoted(fields))"]
  }
}
