import GStreamer
import MediaTime
import RetrogradeEngine

/// What one output is to hold of a source, and how: what is encoded as what, what is copied, what is drawn, what has no room.
struct OutputPlan: Sendable {
  let output: String
  let source: PlayableSource
  let options: ReverseOptions
  private(set) var choice: EncodingChoice
  /// What is drawn over the frames, and before them.
  let drawing: FrameDrawing
  /// How the forward part is copied, if it is.
  let copy: ForwardCopy?
  /// The audio streams to be written.
  let audio: [AudioTrack]

  /// - Parameter container: nil: what the output's name, or the format that is asked for, says.
  /// - Throws: ``RetrogradeError``, where the output can't hold what is to be written.
  init(
    _ output: String, in container: Container? = nil, _ source: PlayableSource, _ options: ReverseOptions,
    _ drawing: FrameDrawing = FrameDrawing()
  ) throws {
    try options.output.place?.check(Container.fileName(output, format: options.encoding.format))
    try options.output.place?.check(output, source.legs.duration)
    try drawing.lettering.check()
    self.drawing = drawing
    self.output = output
    self.source = source
    self.options = options
    let container = try container ?? Container.of(output, format: options.encoding.format)
    let packets = PacketOutput(container, options)
    choice = try EncodingChoice(
      output: output, in: container,
      videos: source.videos.map { ($0.caps, $0.video, $0.arePackets ? packets.form(of: $0.video) : nil) },
      audio: source.audio,
      subtitles: source.index.subtitles, legs: source.legs, heard: source.heard, duration: source.index.presentationEnd,
      frameRate: source.video?.shown.timeline.frameRate ?? 0, options: options.encoding)
    for (video, frame) in zip(source.videos, choice.videos) {
      let isTheora = frame.codec?.text == "video/x-theora"
      let isEven = choice.container.lacksTimes || isTheora && choice.container.isOgg
      guard isTheora || isEven else { continue }
      guard options.playback.frameRate == nil, video.hasNoRate || source.legs.speed == nil else {
        let rate = options.playback.frameRate?.value ?? video.rate.map { $0.value * (source.legs.speed ?? 1) }
        if isEven, source.legs.frameRate == nil, let rate {
          let played = PlayedFrames(video, source.legs, options.playback.timing)
          choice.warnings += [played.evened(to: rate)].compactMap { $0 }
        }
        continue
      }
      throw RetrogradeError(
        .usage,
        about: output,
        "\(isTheora ? "Theora" : container.caps == nil ? "Y4M" : "AVI") shows all frames equally long, and this source does not",
        remedy:
          "add \(setting: .frameRate) \(max(Int(source.frameRate.rounded()), 1)), or write \(isTheora ? ".webm" : ".mkv")"
      )
    }
    // Packets that are turned round are copied in both directions.
    let isCopied = choice.videos.first?.packets != nil
    copy = try options.encoding.copiesForward && !isCopied ? ForwardCopy(source, choice, options, for: output) : nil
    if copy != nil, options.playback.mixesFrames {
      throw RetrogradeError(
        .usage, about: output, "frames that are copied (\(setting: .copiesForward)) can't be mixed",
        remedy: "leave out \(setting: .dissolve) and \(setting: .interpolation)")
    }
    if copy != nil, !drawing.isEmpty {
      throw RetrogradeError(
        .usage, about: output, "nothing can be drawn over what is copied (\(setting: .copiesForward))")
    }
    audio = Array(source.audio.prefix(choice.audioCodecs.count))
  }

  /// Writes the file, or the numbered files; they get their names when `outputs` is committed.
  func write(_ outputs: Outputs, _ work: Work) throws -> Feed.Counts {
    guard let limit = options.encoding.maxSize, choice.container.imageFormat == nil else {
      return try writeOnce(outputs, work)
    }
    return try SizedFilm(self, limit: limit).write(outputs, work)
  }

  /// As `write`, however large it becomes.
  func writeOnce(_ outputs: Outputs, _ work: Work) throws -> Feed.Counts {
    Log.job.info(
      "\(output): plays \(source.legs.presentation.span.start) to \(source.legs.presentation.span.end) of the source, "
        + "\(source.legs.duration ?? .zero) in all; \(videos.count) video, \(audio.count) audio, "
        + "\(choice.subtitles.count) subtitles")
    let location = try outputs.location(of: output)
    // Numbered files have no header to be put right.
    let isNumbered = ImageSequence.isPattern(output)
    let pipeline = try EncodingPipeline(
      contents(location) { _ in isNumbered ? "" : location }, for: output, work.cancellation)
    var counts = try Feed(
      legs: source.legs, heard: source.heard, timing: options.playback.timing, videos: videos, audio: audio,
      subtitles: choice.subtitles,
      isPadded: choice.container.needsAudioFromStart, drawing: drawing, geometries: choice.videos.map(\.geometry),
      copy: copy,
      audioPartSize: audioPartSize, pipeline: pipeline, work: work
    ).run()
    try work.cancellation.check()
    counts.warnings += choice.warnings
    counts.warnings += unheld + pipeline.unheld
    counts.duration = (source.legs.duration ?? .zero) + lead
    try counts.warnings.check(isStrict: options.output.isStrict, output)
    return counts
  }

  /// How many sample frames are given at a time. Where nothing encodes them, larger parts take less time; but a part may be a packet of
  /// the file, on which players wait, and which no frame of video can stand in.
  private var audioPartSize: Int {
    guard videos.isEmpty, choice.audioCodecs.allSatisfy(\.isRaw) else { return AudioReader.partSize }
    return choice.container.hasLooseSamples ? 1 << 16 : 1 << 14
  }

  /// What of the source's description the container can't hold, or does not hold for the output.
  var unheld: [Warning] {
    let lacksCover = source.index.tags?.has("image") ?? false && !choice.container.carriesCoverArt
    let losesAttachments = source.index.tags?.has("attachment") ?? false
    return waveChunks.warnings + loopComments.warnings + unheldTitles
      + (losesAttachments ? [Warning(.detailLeftOut, "left out: the attachments, which no output holds")] : [])
      + (lacksCover ? [Warning(.detailLeftOut, "left out: the cover art, which this container can't hold")] : [])
  }

  /// The streams' names, where the container has several streams and no names.
  private var unheldTitles: [Warning] {
    let tags = videos.map(\.video.tags) + audio.map(\.tags) + choice.subtitles.map(\.tags)
    let count = tags.count { $0?.streamTitle != nil }
    guard count > 0, tags.count > 1, !choice.container.holdsTitles else { return [] }
    return [Warning(Warning.noTitles.code, Warning.noTitles.message, count: count)]
  }

  /// Compares what was written with the source.
  /// - Throws: ``RetrogradeError`` of code `notAMirror` where they differ.
  func verify(
    _ outputs: Outputs, against inputs: [String], _ work: Work
  ) throws {
    try Verifier.check(
      inputs, mirror: try outputs.location(of: output), name: output, options,
      isLossless: options.encoding.quality == .lossless,
      turnsPackets: choice.videos.allSatisfy { $0.packets != nil }, work)
  }

  /// What is written, in `gst-launch-1.0` syntax and beside it.
  func contents(
    _ path: String, _ prepare: @escaping @Sendable (Pipeline) throws -> String = { _ in "" }
  ) -> EncodingPipeline.Contents {
    let isBackward = source.legs[0]?.direction == .backward
    let played = Chapter.played(source.index.chapters, source.legs.all)
    func stream(_ number: Int, _ video: VideoSource) -> EncodingPipeline.Stream {
      let caps = choice.videos[number].packets?.given ?? (isBackward ? video.caps.mirroredFields : video.caps)
      return .init(
        name: EncodingDescription.videoName(number),
        caps: copy.flatMap { number == 0 ? $0.caps : nil }
          ?? source.framed(
            caps, video, options.playback,
            needsRate: choice.videos[number].codec?.text == "video/x-h265"),
        disposition: video.video.disposition,
        orientation: choice.videos[number].orientation(
          video.video.tags?.string("image-orientation"), in: choice.container),
        fieldOrder: choice.deinterlaces || choice.videos[number].deinterlaces
          ? nil : video.isTopFieldFirst.map { .init(isTopFieldFirst: $0 != isBackward) },
        title: video.video.tags?.streamTitle,
        encoderOptions: options.encoding.encoderOptions)
    }
    return EncodingPipeline.Contents(
      description: EncodingDescription(
        path: path, choice: choice, videos: videos.map { $0.video.tags }, audio: audio.map(\.tags),
        copiesVideo: copy != nil, isLongWave: choice.container.isWave && audioBytes > Int(UInt32.max) - 1 << 20
      ).text,
      videos: videos.enumerated().map(stream),
      audio: audio.enumerated().map {
        .init(
          name: "audio\($0)", caps: $1.caps, disposition: $1.disposition, title: $1.tags?.streamTitle,
          sampleCount: choice.sampleCounts[$0])
      },
      texts: choice.subtitles.enumerated().map {
        .init(name: "text\($0)", caps: $1.caps, disposition: $1.disposition, title: $1.tags?.streamTitle)
      },
      chapters: waveChunks.haveMarkers ? [] : played.map { $0.later(by: lead) },
      waveChunks: waveChunks.chunks, comments: loopComments.played,
      tags: source.index.tags, duration: source.legs.duration, lead: copy?.lead ?? .zero,
      animation: choice.container.animation.map {
        ($0, AnimationSettings(options.encoding, spoolDirectory: options.resources.spoolDirectory))
      },
      encoder: options.encoding.encoder, prepare: prepare)
  }

  /// What the first audio stream takes, decoded.
  private var audioBytes: Int {
    guard let track = audio.first, let duration = source.legs.duration else { return 0 }
    return duration.sampleIndex(rate: track.rate).multipliedReportingOverflow(by: track.bytesPerFrame).partialValue
  }

  /// The video streams to be written.
  var videos: [VideoSource] { Array(source.videos.prefix(choice.videos.count)) }

  /// How much later everything starts: for a title.
  private var lead: ClockTime { videos.isEmpty ? .zero : drawing.lead }
}

extension PlayedFrames {
  /// What is to be said where they are shown one after the other and equally long; nil where they are that anyway, give or take most of it.
  /// - Parameter rate: how many there will be in a second.
  fileprivate func evened(to rate: Double) -> Warning? {
    let step = 1 / rate
    let moved = frames.enumerated().map { abs($1.shown.start.seconds - Double($0) * step) }.filter { $0 > step * 0.9 }
    guard let most = moved.max() else { return nil }
    return Warning(
      .converted,
      "changed: this format shows all frames equally long, and the source does not: \(moved.count) frames are up to "
        + "\(Decimals.text(most, 2)) s off; .mkv and .mp4 keep their times",
      count: moved.count)
  }
}

extension TagList {
  /// What people call a stream; nil for the names that matroskamux gives to streams without one
  /// (`gst_matroska_mux_request_new_pad`).
  fileprivate var streamTitle: String? {
    string("title").flatMap { ["Video", "Audio", "Subtitle"].contains($0) ? nil : $0 }
  }
}
