import GStreamer

/// One reversal, from the file to the mirror, on threads of its own. Reading it from top to bottom is reading the design.
struct ReverseJob: Sendable {
  let input: String
  let options: ReverseOptions
  let cancellation: Cancellation
  let report: @Sendable (Progress) -> Void
  let gauge = MemoryGauge()
  private let began = Stopwatch()

  init(
    input: String, options: ReverseOptions, cancellation: Cancellation, report: @escaping @Sendable (Progress) -> Void
  ) {
    self.input = input
    self.options = options
    self.cancellation = cancellation
    self.report = report
  }

  /// Everything that is known before the first frame is written.
  private struct Preparation {
    var source: PlayableSource
    var choice: EncodingChoice
    var video: MediaWriter.Stream?
    /// The streams of sound to be written.
    var audio: [AudioTrack]

    func encoding(_ path: String) -> MediaWriter.Plan {
      MediaWriter.Plan(
        choice: choice, video: video, audio: audio.map { .init(caps: $0.caps, tags: $0.tags) },
        tags: source.index.tags, path: path)
    }
  }

  /// Turns the source round, into `output`.
  func run(to output: String) throws -> Summary {
    try OutputFile.check(output, overwrites: options.overwrites, input: input)
    let prepared = try prepare(output)
    let source = prepared.source
    let file = try OutputFile(output, overwrites: options.overwrites, input: input)
    var isWhole = false
    defer { if !isWhole { file.discard() } }
    let writer = try MediaWriter(prepared.encoding(file.temporaryPath), for: output)
    let counts = try write(
      source.legs, prepared.video == nil ? nil : source.video, prepared.audio, writer, prepared.choice.container)
    try cancellation.check()
    try file.commit()
    isWhole = true
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: source.legs.duration ?? .zero,
      elapsed: began.elapsed, peakMemory: gauge.peak, plan: source.video?.plan,
      warnings: source.warnings + counts.warnings + prepared.choice.warnings)
  }

  /// The pipelines that would turn the source round into `output`, in `gst-launch-1.0` syntax.
  func pipelines(to output: String) throws -> PipelineDescriptions {
    let prepared = try prepare(output)
    return PipelineDescriptions(
      decoding: prepared.source.video?.description, encoding: prepared.encoding(output).description)
  }

  private func prepare(_ output: String) throws -> Preparation {
    _ = try Container.of(output)
    let source = try open()
    let choice = try EncodingChoice(
      output: output, video: source.video.map { ($0.caps, $0.video) }, audio: source.audio,
      duration: source.index.presentationEnd, frameRate: source.video?.timeline.frameRate ?? 0,
      options: options.encoding)
    let isBackward = source.legs[0]?.direction == .backward
    return Preparation(
      source: source, choice: choice,
      video: choice.videoCodec == nil
        ? nil
        : source.video.map {
          .init(caps: isBackward ? $0.caps.mirroredFields : $0.caps, tags: $0.video.tags)
        },
      audio: Array(source.audio.prefix(choice.audioCodecs.count)))
  }

  func open() throws -> PlayableSource {
    try PlayableSource(
      input, options: options, count: options.count, gauge: gauge, cancellation: cancellation
    ) { position in
      report(
        Progress(
          stage: .indexing, done: 0, total: 0, position: position, duration: .zero, elapsed: began.elapsed,
          memoryHeld: 0))
    }
  }

  private struct Counts {
    var frames = 0
    var samples: [Int] = []
    var warnings: [String] = []
  }

  private func write(
    _ legs: Legs, _ video: VideoSource?, _ audio: [AudioTrack], _ writer: MediaWriter, _ container: Container
  ) throws -> Counts {
    try cancellation.onCancel({ writer.abort() }) {
      defer { writer.abort() }
      try writer.start()
      let soundWorkers = try audio.enumerated().map { index, track in
        try Worker("mirror audio \(index)") {
          try play(track, legs, writer, writer.audio[index], container, isMain: video == nil && index == 0)
        }
      }
      let pictures: Result<Pictures, any Error> = Result {
        guard let video, let source = writer.video else { return Pictures() }
        return try play(video, legs, writer, source)
      }
      if case .failure = pictures { writer.abort() }
      let samples = soundWorkers.map { worker in Result { try worker.join() } }
      try cancellation.check()
      let failures = ([pictures.map { _ in }] + samples.map { $0.map { _ in } }).compactMap { result -> (any Error)? in
        if case .failure(let error) = result { error } else { nil }
      }
      // A thread that was woken because another failed says only that it was cancelled.
      if let error = failures.first(where: { ($0 as? RetrogradeError)?.code != .cancelled }) { throw error }
      let heard = samples.map { (try? $0.get()) ?? 0 }
      try writer.finish(heard: heard, shown: try? pictures.get().shown)
      if let error = failures.first { throw error }
      let (frames, warnings) = try (pictures.get().count, pictures.get().warnings)
      return Counts(frames: frames, samples: heard, warnings: warnings)
    }
  }

  private struct Pictures: Sendable {
    var count = 0
    /// From the start of the first frame to the end of the last.
    var shown: ClockTime?
    var warnings: [String] = []
  }

  /// Gives the frames of the video to the writer.
  private func play(
    _ video: VideoSource, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource
  ) throws -> Pictures {
    var pictures = Pictures()
    var start: ClockTime?
    var caps: Caps?
    let watch = Stopwatch()
    let total = legs.all.reduce(0) { $0 + video.timeline.clipped(to: $1.span).frames.count }
    let player = VideoPlayer(video, legs, timing: options.timing, cancellation)
    while let frame = try player.next(offset: writer.mirrorStart) {
      if let caps, !caps.isEqual(frame.caps) { source.setCaps(frame.caps) }
      caps = frame.caps
      try writer.push(frame.buffer, to: source)
      pictures.count += 1
      start = start ?? frame.shown.start
      pictures.shown = start.map { frame.shown.end - $0 }
      if pictures.count % 8 == 0 || pictures.count == total {
        report(
          Progress(
            stage: .reversing, done: pictures.count, total: max(total, pictures.count), position: frame.shown.end,
            duration: legs.duration ?? .zero, elapsed: watch.elapsed, memoryHeld: gauge.now))
      }
    }
    pictures.warnings = player.warnings
    source.endOfStream()
    return pictures
  }

  /// Gives a stream of sound to the writer.
  private func play(
    _ track: AudioTrack, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource, _ container: Container, isMain: Bool
  ) throws -> Int {
    let length = legs.duration ?? .zero
    let watch = Stopwatch()
    var written = 0
    var player = AudioPlayer(track, legs, isPadded: container.needsSoundFromStart)
    while let part = try player.next() {
      try cancellation.check()
      part.buffer.stamp(pts: writer.mirrorStart + part.shown.start, duration: part.shown.duration)
      try writer.push(part.buffer, to: source)
      written += part.count
      if isMain {
        report(
          Progress(
            stage: .reversing, done: written, total: max(written, length.sampleIndex(rate: track.rate)),
            position: part.shown.end, duration: length, elapsed: watch.elapsed, memoryHeld: gauge.now))
      }
    }
    source.endOfStream()
    return written
  }
}

/// Seconds since it was made, by a clock that nobody sets.
struct Stopwatch: Sendable {
  private let start = ContinuousClock.now
  var elapsed: Double {
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }
}
