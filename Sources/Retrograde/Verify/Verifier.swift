import GStreamer
import MediaTime
import RetrogradeEngine

/// Checks whether a file is the exact mirror (reversal) of a source, by decoding both files.
///
/// ```swift
/// let verification = try await Verifier("holiday.mp4", mirror: "yadiloh.mp4").verify()
/// print(verification.isMirror ? "the exact mirror" : verification.difference ?? "")
/// ```
///
/// Both files are decoded in short ranges (windows), within one memory budget. Only temporary files
/// (spools) are written.
public struct Verifier: Sendable {
  /// Paths of the source files, in the order of play.
  public var sources: [String]
  public var mirror: String
  /// Options with which the mirror was written: order of play, start and end, streams, rate. Memory
  /// and spool are shared by both files.
  public var options: ReverseOptions
  /// True if every pixel and every sample must equal the source's; false to allow for the loss of
  /// codecs.
  public var isLossless: Bool

  public init(
    _ source: String, mirror: String, options: ReverseOptions = ReverseOptions(), isLossless: Bool = false
  ) {
    self.init([source], mirror: mirror, options: options, isLossless: isLossless)
  }

  /// - Parameter sources: files that were joined and reversed; at least one.
  public init(
    _ sources: [String], mirror: String, options: ReverseOptions = ReverseOptions(), isLossless: Bool = false
  ) {
    self.sources = sources
    self.mirror = mirror
    self.options = options
    self.isLossless = isLossless
  }

  /// Compares the source and the mirror.
  ///
  /// - Parameter report: gets the progress; called on a thread of the verifier.
  /// - Throws: ``RetrogradeError`` if one of the files can't be read.
  public func verify(_ report: @escaping @Sendable (ReversalProgress) -> Void = { _ in }) async throws -> Verification {
    try await Work.perform("verify", report) { work in
      work.scale.expect(.comparing(videos: 1, audio: 1))
      return try InputStamps(inputs).unchanged { try run(work, name: mirror) }
    }
  }
}

extension Verifier {
  /// All files that the comparison reads.
  private var inputs: [String] { sources + [mirror, options.subtitles, options.soundtrack].compactMap { $0 } }

  /// Name of the source in messages.
  private var sourceName: String { Reverser.name(of: sources) }

  /// Compares a finished mirror with its source, before the mirror gets its file name.
  /// - Parameter turnsPackets: true if the video's packets were reversed unchanged; every pixel
  ///   must then be equal.
  /// - Throws: ``RetrogradeError`` of code `notAMirror` if the mirror differs from the expected
  ///   output.
  static func check(
    _ sources: [String], mirror: String, name: String, _ options: ReverseOptions, isLossless: Bool,
    turnsPackets: Bool = false, _ work: Work
  ) throws {
    let verifier = Verifier(sources, mirror: mirror, options: options, isLossless: isLossless)
    guard let difference = try verifier.run(work.apart, name: name, turnsPackets: turnsPackets).difference else {
      return
    }
    throw RetrogradeError(
      .notAMirror, about: name,
      "not written, because the result is not an exact reversal of \(verifier.sourceName) (\(difference))")
  }

  /// - Parameter name: final file name of the mirror. The extension selects the container, which
  ///   determines the allowed deviations. If the extension is unknown, the mirror's content selects
  ///   the container.
  func run(_ work: Work, name: String, turnsPackets: Bool = false) throws -> Verification {
    let container = try Container.of(finished: self.mirror, name: name, format: options.encoding.format)
    var requirements = OutputRequirements(container, options.encoding)
    var asItIs = OutputRequirements()
    asItIs.holdsAlpha = true
    // Both files share one memory budget.
    let resources = options.resources.shared(by: 2)
    guard !sources.isEmpty else { throw RetrogradeError(.usage, "no source file is given") }
    let forward = PlaybackOptions(loop: .forward, sequenceRate: options.playback.sequenceRate)
    let mirror = try PlayableSource.open(
      [self.mirror], ReverseOptions(playback: forward, resources: resources), for: asItIs, work,
      as: .indexingMirror)
    // Decode the source's transparency if the mirror has any.
    requirements.holdsAlpha = requirements.holdsAlpha || mirror.videos.contains { $0.caps.hasAlpha }
    let source = try PlayableSource.open(
      sources,
      ReverseOptions(
        playback: options.playback, resources: resources, subtitles: options.subtitles,
        soundtrack: options.soundtrack),
      for: requirements, work, as: .indexingSource)
    work.scale.expect(.compared(videos: source.videos.count, audio: source.audio.count))
    var result = Verification(source: sourceName, mirror: name)
    result.checks = DescriptionComparison.streams(source, mirror, container)
    do {
      // In a container that counts frames, every frame has the duration of the first frame.
      let countsFrames =
        container.lacksTimes || container.isOgg && mirror.videos.first?.video.caps.mediaType == "video/x-theora"
      let frame =
        countsFrames
        ? mirror.videos.first.flatMap { $0.timeline.count > 1 ? $0.timeline.starts[1] - $0.timeline.starts[0] : nil }
        : nil
      let delays = try videos(
        source, mirror, container, isLossless: isLossless || turnsPackets, work, &result)
      result.checks.append(
        StreamDescriptions.start(
          mirror, container, delay: delays.first ?? .zero, frame: frame,
          isExact: mirror.audio.allSatisfy(\.isWholeByCodec)))
      try audio(source, mirror, container, delays.first, frame: frame, work, &result)
      result.checks += StreamDescriptions.languages(source, mirror, container)
      result.checks += StreamDescriptions.titles(source, mirror, container)
      result.checks += StreamDescriptions.dispositions(source, mirror, container)
      let delay = delays.first ?? DescriptionComparison.primingDelay(source, mirror, container)
      result.checks += DescriptionComparison.details(source, mirror, container, delay: delay)
    } catch let error as GStreamerError {
      throw RetrogradeError(
        .internalFailure, about: "\(sourceName), \(name)", "can't be compared: \(error.description)", underlying: error
      )
    }
    // Collect the warnings last, because some appear only after all frames were decoded.
    result.warnings = (result.warnings + source.warnings + mirror.warnings).unique
    return result
  }

  /// Share of a video comparison's time that the plain decode takes.
  private static let plainShare = 0.3

  /// - Returns: delay of each of the mirror's videos relative to its expected times.
  private func videos(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container, isLossless: Bool, _ work: Work,
    _ result: inout Verification
  ) throws -> [ClockTime] {
    // GIF rounds times to hundredths of a second.
    let tolerance = ClockTime(nanoseconds: container.animation == .gif ? 10_000_000 : 2_000_000)
    return try zip(source.videos, mirror.videos).enumerated().map { number, pair in
      let label = number == 0 ? "" : " \(number)"
      let orientations = (
        source: pair.0.video.tags?.string("image-orientation"), mirror: pair.1.video.tags?.string("image-orientation")
      )
      let framing = options.encoding.framing
      let geometry =
        try framing.settings.isEmpty
        ? nil : FrameGeometry(pair.0.caps, orientation: orientations.source, framing, for: container)
      let (watch, length) = (Stopwatch(), source.legs.duration ?? .zero)
      func report(_ position: ClockTime, of end: ClockTime, from start: Double, to limit: Double) {
        let share = end > .zero ? min(max(position / end, 0), 1) : 0
        work.report(
          .comparingVideo(number), share: start + (limit - start) * share, position: position, duration: end,
          since: watch)
      }
      let plain = try pair.0.plainFrames(work.cancellation) {
        report($0, of: pair.0.timeline.end, from: 0, to: Verifier.plainShare)
      }
      let leftOut = container.animation?.leftOut(pair.0, source.legs, options.playback)
      var frames = try FrameComparison(
        VideoPlayer(pair.0, source.legs, timing: options.playback.timing, work.cancellation),
        VideoPlayer(pair.1, mirror.legs, timing: .mirror, work.cancellation), orientations: orientations,
        geometry: geometry, isForRGB: pair.1.caps.isRGB && !pair.0.caps.isRGB,
        isTransparent: pair.0.caps.hasAlpha,
        comparesSeen: pair.0.caps.hasAlpha && pair.1.caps.hasAlpha && pair.1.caps.isRGB,
        roundsAlpha: container.animation == .gif,
        isHalved: container.animation == .webp, comparesPixels: isLossless,
        isInLosslessCodec: EncodingChoice.losslessCodecs.contains(pair.1.video.caps.mediaType), plain: plain,
        clock: container.animation.map { AnimationClock($0) }, work.cancellation,
        report: { report($0, of: length, from: plain == nil ? 0 : Verifier.plainShare, to: 1) })
      // Concealment of lost data can depend on the decoder's number of threads, so compare
      // differing frames with a second plain decode.
      if frames.sourceFrames?.differing != nil,
        let other = try pair.0.plainFrames(usesWindowThreads: true, work.cancellation, report: { _ in })
      {
        frames.sourceFrames?.excludeFrames(damagedBy: other)
      }
      // Don't require equal pixels after deinterlacing, which changes every frame.
      let isExact = isLossless && !(geometry?.deinterlaces ?? false)
      // GIF's palette of 256 colours lacks many of the source's colours, so don't judge its pixels.
      let judgesPixels = container.animation != .gif && !(geometry?.deinterlaces ?? false)
      result.checks += frames.checks(
        label, isLossless: isExact, judgesPixels: judgesPixels, tolerance: tolerance,
        saysDurations: container.hasEditLists || container.animation != nil,
        leftOut: leftOut.flatMap { lost in
          container.animation.map { "\(lost.count) of \(lost.all) were left out, since \($0.rateLimit)" }
        })
      result.checks += DescriptionComparison.frame(
        pair.0, pair.1, label, isBackward: source.legs[0]?.direction == .backward,
        isAlike: frames.worst.likeness >= FrameComparison.leastLikeness, geometry: geometry,
        keepsAlpha: container.keepsAlpha || EncoderSettings.keepsAlpha(pair.1.video.caps),
        holdsFields: container.animation == nil)
      if geometry == nil { result.checks += DescriptionComparison.views(pair.0, pair.1, label, container) }
      return frames.delay
    }
  }

  private func audio(
    _ source: PlayableSource, _ mirror: PlayableSource, _ container: Container, _ delay: ClockTime?,
    frame: ClockTime?, _ work: Work, _ result: inout Verification
  ) throws {
    for (number, pair) in zip(source.audio, mirror.audio).enumerated() {
      let label = "audio \(number)"
      guard pair.0.channels == pair.1.channels else {
        result.checks.append(
          .init(
            label, false,
            "\(pair.1.channels) \(pair.1.channels == 1 ? "channel" : "channels"), expected \(pair.0.channels)",
            ["channels": Double(pair.1.channels)]))
        continue
      }
      result.checks += DescriptionComparison.loudspeakers(pair.0, pair.1, label, container)
      let exactness: AudioComparison.Exactness =
        isLossless
        ? .same
        : pair.1.modelsSpeech
          ? .modelled : pair.1.isExact(for: pair.0) && pair.0.rate == pair.1.rate ? .rounded : .alike
      let watch = Stopwatch()
      var comparison = try AudioComparison(
        (pair.0, source.audioLegs), (pair.1, mirror.legs), delay: delay ?? .zero, exactness, work.cancellation,
        report: { position, share in
          work.report(
            .comparingAudio(number), share: share, position: position, duration: source.legs.duration ?? .zero,
            since: watch)
        })
      let isWhole = isLossless || pair.0.isWholeByCodec && pair.1.isWholeByCodec
      if isWhole, pair.0.rate == pair.1.rate {
        let isPadded = container.needsAudioFromStart || !container.isKnown && mirror.videos.isEmpty
        let player = AudioPlayer(pair.0, source.audioLegs, isPadded: isPadded)
        comparison.stored = player.sampleCount.map { (expected: $0, found: pair.1.frames.count) }
      }
      var unpadded = AudioPlayer(pair.0, source.audioLegs, isPadded: false)
      let start = try unpadded.next()?.shown.start ?? .zero
      result.checks += comparison.checks(
        label, rates: (pair.0.rate, pair.1.rate), keepsRate: pair.1.codecHolds(rate: pair.0.rate), start: start,
        delay: delay, isPrimed: pair.1.isPrimed(in: container), frame: frame, exactness)
    }
  }
}
