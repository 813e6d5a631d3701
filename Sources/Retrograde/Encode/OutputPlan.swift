import GStreamer
import MediaTime
import RetrogradeEngine

/// Plan of one output of a source: codecs, copied packets, overlays, and details that the output
/// can't hold.
struct OutputPlan: Sendable {
  let output: String
  let source: PlayableSource
  let options: ReverseOptions
  private(set) var choice: EncodingChoice
  /// Overlays on the frames, and the title before the first frame.
  let drawing: FrameDrawing
  /// Copies the packets of the video's forward parts, and encodes the backward parts; nil if all
  /// parts are treated alike.
  let copy: ForwardCopy?
  /// Audio streams that are written.
  let audio: [AudioTrack]

  /// - Parameter container: container to use; nil: selected by the requested format, or by the
  ///   output's name.
  /// - Throws: ``RetrogradeError`` if the output can't hold the streams, or if options contradict
  ///   each other.
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
      .init(
        videos: source.videos.map {
          .init(raw: $0.caps, index: $0.video, packets: $0.arePackets ? packets.form(of: $0.video) : nil)
        },
        audio: source.audio,
        subtitles: source.index.subtitles,
        subtitlesApart: options.output.subtitles == nil ? nil : SubtitleFile.place(in: source.index.subtitles),
        legs: source.legs, audioLegs: source.audioLegs, duration: source.index.presentationEnd,
        frameRate: source.video?.shown.timeline.frameRate ?? 0), options: options.encoding)
    for (video, frame) in zip(source.videos, choice.videos) {
      if source.legs.frameRate != nil || video.shown.isThinned,
        VideoPlayer.frameCount(video, source.legs, timing: options.playback.timing) == 0
      {
        throw RetrogradeError(
          .usage, about: output, "no frame is left at this low frame rate",
          remedy: "use a higher \(setting: .frameRate)")
      }
      if let animation = container.animation,
        let lost = animation.leftOut(video, source.legs, options.playback)
      {
        choice.warnings.append(
          Warning(
            .notWritten,
            "left out: \(lost.count) of \(lost.all) frames, since \(animation.rateLimit); .webp and .apng have no "
              + "such limit",
            count: lost.count))
      }
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
        "\(isTheora ? "Theora" : container.caps == nil ? "Y4M" : "AVI") needs the same duration for all frames, but "
          + "the frames of this source have different durations",
        remedy:
          "add \(setting: .frameRate) \(max(Int(source.frameRate.rounded()), 1)), or use \(isTheora ? ".webm" : ".mkv")"
      )
    }
    // A separate forward copy is needed only if frames are encoded. If not, all packets are copied,
    // including those of backward legs.
    let isCopied = choice.videos.first?.packets != nil
    copy = try options.encoding.copiesForward && !isCopied ? ForwardCopy(source, choice, options, for: output) : nil
    if copy != nil, options.playback.mixesFrames {
      throw RetrogradeError(
        .usage, about: output, "copied frames (\(setting: .copiesForward)) can't be mixed",
        remedy: "leave out \(setting: .dissolve) and \(setting: .interpolation)")
    }
    if copy != nil, !drawing.isEmpty {
      throw RetrogradeError(
        .usage, about: output, "nothing can be drawn over copied frames (\(setting: .copiesForward))")
    }
    audio = Array(source.audio.prefix(choice.audioCodecs.count))
  }

  /// Writes the file or the numbered files, under temporary names until `outputs` is committed.
  func write(_ outputs: Outputs, _ work: Work) throws -> Feed.Counts {
    guard let limit = options.encoding.maxSize, choice.container.imageFormat == nil else {
      return try writeOnce(outputs, work)
    }
    return try SizeLimitedEncode(self, limit: limit).write(outputs, work)
  }

  /// Writes the output like `write`, without a size limit.
  func writeOnce(_ outputs: Outputs, _ work: Work) throws -> Feed.Counts {
    Log.job.info(
      "\(output): plays \(source.legs.presentation.span.start) to \(source.legs.presentation.span.end) of the source, "
        + "\(source.legs.duration ?? .zero) in all; \(videos.count) video, \(audio.count) audio, "
        + "\(choice.subtitles.count) subtitles")
    let location = try outputs.location(of: output)
    // Numbered files have no header to correct.
    let isNumbered = ImageSequence.isPattern(output)
    let pipeline = try EncodingPipeline(
      contents(location) { _ in isNumbered ? "" : location }, for: output, work.cancellation)
    var counts = try Feed(
      legs: source.legs, audioLegs: source.audioLegs, timing: options.playback.timing, videos: videos, audio: audio,
      subtitles: choice.subtitles,
      isPadded: choice.container.needsAudioFromStart, drawing: drawing, geometries: choice.videos.map(\.geometry),
      copy: copy,
      audioPartSize: audioPartSize, pipeline: pipeline, work: work
    ).run()
    try work.cancellation.check()
    counts.warnings += choice.warnings
    counts.warnings +=
      details.unsupportedDetails + pipeline.unsupportedContent + unsupportedFields + unsupportedChromaSites
      + unsupportedRange + unsupportedLight + unsupportedColours + unsupportedViews + reducedDecoding
    counts.duration = (source.legs.duration ?? .zero) + lead
    try counts.warnings.check(isStrict: options.output.isStrict, output)
    return counts
  }

  /// Number of sample frames in each pushed buffer. Without encoding, larger buffers are faster.
  /// But each buffer may become a packet, and packets must not be too large: players wait for a
  /// complete packet, and the muxer can't write video frames in between.
  private var audioPartSize: Int {
    guard videos.isEmpty, choice.audioCodecs.allSatisfy(\.isRaw) else { return AudioReader.partSize }
    return choice.container.hasLooseSamples ? 1 << 16 : 1 << 14
  }

  /// Details of the source that are written besides frames and samples, such as chapters and tags.
  var details: CarriedDetails {
    // Opus counts samples at 48 kHz, whatever the source's sample rate.
    let isOpus = choice.audioCodecs.first?.text.hasPrefix("audio/x-opus") ?? false
    return CarriedDetails(
      source: source, playback: options.playback, container: choice.container, videos: videos, audio: audio,
      subtitles: choice.subtitles, hasSoundtrack: options.soundtrack != nil, mostCovers: choice.mostCovers,
      isResampled: isOpus && audio.first?.rate != 48_000 || choice.audioForms.first?.rate != nil,
      isPadded: choice.container.needsAudioFromStart)
  }

  /// Checks the output against the source.
  /// - Throws: ``RetrogradeError`` of code `notAMirror` if the output is not the exact mirror
  ///   (reversal) of the source.
  func verify(
    _ outputs: Outputs, against inputs: [String], _ work: Work
  ) throws {
    try Verifier.check(
      inputs, mirror: try outputs.location(of: output), name: output, options,
      isLossless: options.encoding.quality == .lossless,
      turnsPackets: choice.videos.allSatisfy { $0.packets != nil }, work)
  }

  /// Returns the content to write, with its pipeline in `gst-launch-1.0` syntax.
  func contents(
    _ path: String, _ prepare: @escaping @Sendable (Pipeline) throws -> String = { _ in "" }
  ) -> EncodingPipeline.Contents {
    let text = EncodingDescription(
      path: path, choice: choice, videos: videos.map { $0.video.tags }, audio: audio.map(\.tags),
      copiesVideo: copy != nil, isLongWave: choice.container.isWave && audioBytes > Int(UInt32.max) - 1 << 20
    ).text
    let needsRate = { choice.videos[$0].codec?.text == "video/x-h265" }
    var contents = details.contents(
      text,
      names: (
        videos.indices.map(EncodingDescription.videoName), audio.indices.map { "audio\($0)" },
        choice.subtitles.indices.map { "text\($0)" }
      ), needsRate: needsRate, prepare)
    for (number, video) in videos.enumerated() {
      let given = choice.videos[number].packets.map {
        source.framed($0.given, video, options.playback, needsRate: needsRate(number))
      }
      if let caps = copy.flatMap({ number == 0 ? $0.caps : nil }) ?? given { contents.videos[number].caps = caps }
      contents.videos[number].orientation = choice.videos[number].orientation(
        video.video.tags?.string("image-orientation"), in: choice.container)
      if choice.deinterlaces || choice.videos[number].deinterlaces { contents.videos[number].fieldOrder = nil }
      contents.videos[number].encoderOptions = options.encoding.encoderOptions
    }
    contents.chapters = contents.chapters.map { $0.later(by: lead) }
    contents.lead = copy?.lead ?? .zero
    // A still image is shown for one frame of the usual rate.
    let isStill = source.index.plays == nil && source.legs.duration == FrameRate.usual.start(of: 1)
    contents.animation = choice.container.animation.map {
      (
        $0,
        AnimationSettings(
          options.encoding, plays: min(source.index.plays ?? 0, $0.mostPlays), isStill: isStill,
          spoolDirectory: options.resources.spoolDirectory)
      )
    }
    contents.encoder = options.encoding.encoder
    return contents
  }

  /// Size of the decoded first audio stream, in bytes.
  private var audioBytes: Int {
    guard let track = audio.first, let duration = source.legs.duration else { return 0 }
    return duration.sampleIndex(rate: track.rate).multipliedReportingOverflow(by: track.bytesPerFrame).partialValue
  }

  /// Video streams that are written.
  var videos: [VideoSource] { Array(source.videos.prefix(choice.videos.count)) }

  /// Time by which the title delays the source's media in the output: the duration of the title.
  private var lead: ClockTime { videos.isEmpty ? .zero : drawing.lead }
}

extension PlayedFrames {
  /// Returns a warning if frames are shown too early or too late because all frames get the same
  /// duration; nil if no frame moves by more than half of that duration plus half a millisecond.
  /// - Parameter rate: frames per second in the output.
  fileprivate func evened(to rate: Double) -> Warning? {
    let step = 1 / rate
    let accepted = StreamDescriptions.mostShift(ClockTime(seconds: step))
    let moved = frames.enumerated().map { abs($1.shown.start.seconds - Double($0) * step) }.filter { $0 > accepted }
    guard let most = moved.max() else { return nil }
    return Warning(
      .converted,
      "changed: \(moved.count) frame\(moved.count == 1 ? " is" : "s are") shown up to \(Decimals.text(most, 2)) s "
        + "too early or too late, since "
        + "all frames have the same duration in this format; use .mkv or .mp4 to keep their times",
      count: moved.count)
  }
}
