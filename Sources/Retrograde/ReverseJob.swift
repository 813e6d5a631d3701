import GStreamer
import Glibc
import Synchronization

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
    var index: SourceIndex
    var source: VideoSource?
    var legs: Legs
    var choice: EncodingChoice
    var video: MediaWriter.Stream?
    /// The streams of sound to be written.
    var audio: [AudioTrack]

    func encoding(_ path: String) -> MediaWriter.Plan {
      MediaWriter.Plan(
        choice: choice, video: video, audio: audio.map { .init(caps: $0.caps, tags: $0.tags) }, tags: index.tags,
        path: path)
    }
  }

  /// Turns the source round, into `output`.
  func run(to output: String) throws -> Summary {
    try OutputFile.check(output, overwrites: options.overwrites, input: input)
    let source = try Source(input, options: options, cancellation: cancellation)
    let prepared = try prepare(source, output)
    let file = try OutputFile(output, overwrites: options.overwrites, input: input)
    var isWhole = false
    defer { if !isWhole { file.discard() } }
    let writer = try MediaWriter(prepared.encoding(file.temporaryPath), for: output)
    let counts = try write(
      prepared.legs, prepared.video == nil ? nil : prepared.source, prepared.audio, writer, prepared.choice.container)
    try cancellation.check()
    try file.commit()
    isWhole = true
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: prepared.legs.duration ?? .zero,
      elapsed: began.elapsed, peakMemory: gauge.peak, plan: prepared.source?.plan,
      warnings: prepared.index.warnings + (prepared.source?.warnings ?? []) + counts.warnings
        + prepared.choice.warnings)
  }

  /// The pipelines that would turn the source round into `output`, in `gst-launch-1.0` syntax.
  func pipelines(to output: String) throws -> PipelineDescriptions {
    let source = try Source(input, options: options, cancellation: cancellation)
    let prepared = try prepare(source, output)
    return PipelineDescriptions(
      decoding: prepared.source?.description, encoding: prepared.encoding(output).description)
  }

  private func prepare(_ source: Source, _ output: String) throws -> Preparation {
    guard !(options.noAudio && options.noVideo) else {
      throw RetrogradeError(.usage, "without video and without sound, nothing is left to write")
    }
    guard options.count >= 1 else { throw RetrogradeError(.usage, "--count must be at least 1") }
    _ = try Container.of(output)
    var index = try makeIndex(source)
    let range = try self.range(in: index)
    let video = try index.video.map { video in
      try VideoSource(index, video, range: range, options: options, gauge: gauge, cancellation: cancellation)
    }
    let presentation = try self.presentation(index, video, range)
    index.audio = index.audio.filter { !$0.frames(during: presentation.span).isEmpty }
    let choice = try EncodingChoice(
      output: output, video: video.map { ($0.caps, $0.video) }, audio: index.audio,
      duration: index.presentationEnd, frameRate: video?.timeline.frameRate ?? 0, options: options.encoding)
    let legs = Legs(
      options.loop, count: options.count, presentation, timeline: video?.timeline, dropsSeam: options.dropsSeam)
    let isBackward = legs[0]?.direction == .backward
    return Preparation(
      index: index, source: video, legs: legs, choice: choice,
      video: choice.videoCodec == nil
        ? nil : video.map { .init(caps: isBackward ? $0.caps.mirroredFields : $0.caps, tags: index.video?.tags) },
      audio: Array(index.audio.prefix(choice.audioCodecs.count)))
  }

  func makeIndex(_ source: Source) throws -> SourceIndex {
    let topology = try Topology(probing: source.path, cancellation)
    let indexer = Indexer(topology: topology, options: options, cancellation: cancellation) { position in
      report(
        Progress(
          stage: .indexing, done: 0, total: 0, position: position, duration: .zero, elapsed: began.elapsed,
          memoryHeld: 0))
    }
    return try indexer.run()
  }

  /// What of the source is wanted, in stream time; nil for all of it.
  func range(in index: SourceIndex) throws -> TimeSpan? {
    guard options.start != nil || options.end != nil else { return nil }
    func time(_ position: SourcePosition?, _ option: String) throws -> ClockTime? {
      switch position {
      case nil: return nil
      case .time(let time): return time + index.presentationStart
      case .frame(let frame):
        guard let starts = index.video?.starts else {
          throw RetrogradeError(
            .usage, "\(option) \(frame)f: the source has no frames that can be counted; use seconds")
        }
        if frame >= starts.count { return index.presentationEnd }
        return starts[frame]
      }
    }
    let range = TimeSpan(
      start: try time(options.start, "--start") ?? index.presentationStart,
      end: min(try time(options.end, "--end") ?? index.presentationEnd, index.presentationEnd))
    guard range.start < range.end else {
      throw RetrogradeError(
        .usage, "--start must lie before --end and before the end of the source, which is \(index.presentationEnd) long"
      )
    }
    return range
  }

  func presentation(_ index: SourceIndex, _ video: VideoSource?, _ range: TimeSpan?) throws -> Presentation {
    if let range { return Presentation(range) }
    var spans = index.audio.map(\.span)
    if let timeline = video?.timeline, let first = timeline.starts.first {
      spans.append(TimeSpan(start: first, end: timeline.end))
    }
    guard let start = spans.map(\.start).min(), let end = spans.map(\.end).max(), start < end else {
      throw RetrogradeError(.damagedInput, "\(input): no picture and no sound can be read from it")
    }
    return Presentation(TimeSpan(start: start, end: end))
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

  /// Gives out the frames of the video, leg by leg.
  private func play(
    _ video: VideoSource, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource
  ) throws -> Pictures {
    var pictures = Pictures()
    var start: ClockTime?
    let watch = Stopwatch()
    let total = legs.all.reduce(0) { $0 + video.timeline.clipped(to: $1.span).frames.count }
    var previous: (number: Int, direction: Direction)?
    for leg in legs.all {
      let reader = try VideoReader(video, over: leg.span, leg.direction, cancellation)
      defer { _ = try? reader.close() }
      var clock = MirrorClock(leg, timeline: video.timeline, timing: options.timing)
      let caps = leg.direction == .backward ? video.caps.mirroredFields : video.caps
      if pictures.count > 0, caps.string("field-order") != nil { source.setCaps(caps) }
      while let frame = try reader.next() {
        let shown = clock.next(frame.span)
        // At a turn the frame that is on show stays.
        let isOnShow = previous.map { $0.number == frame.number && $0.direction != leg.direction } ?? false
        previous = (frame.number, leg.direction)
        if isOnShow { continue }
        try writer.push(
          frame.buffer.placed(
            pts: writer.mirrorStart + shown.start, duration: shown.duration, isMirrored: leg.direction == .backward),
          to: source)
        pictures.count += 1
        start = start ?? shown.start
        pictures.shown = start.map { shown.end - $0 }
        if pictures.count % 8 == 0 || pictures.count == total {
          report(
            Progress(
              stage: .reversing, done: pictures.count, total: max(total, pictures.count), position: shown.end,
              duration: legs.duration ?? .zero, elapsed: watch.elapsed, memoryHeld: gauge.now))
        }
      }
      pictures.warnings += try reader.close()
    }
    source.endOfStream()
    return pictures
  }

  /// Gives out the sound, leg by leg.
  private func play(
    _ track: AudioTrack, _ legs: Legs, _ writer: MediaWriter, _ source: AppSource, _ container: Container, isMain: Bool
  ) throws -> Int {
    let length = legs.duration ?? .zero
    let watch = Stopwatch()
    var written = 0
    for leg in legs.all {
      var reader = AudioReader(
        track, leg, isPadded: written > 0 || container.needsSoundFromStart, isPaddedAtEnd: leg.end < length)
      while let part = try reader.next() {
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
    }
    source.endOfStream()
    return written
  }
}

extension SourceIndex {
  var presentationStart: ClockTime {
    ([video?.starts?.first].compactMap { $0 } + audio.map(\.span.start)).min() ?? .zero
  }

  /// The latest end of any stream, as far as the packets tell.
  var presentationEnd: ClockTime {
    let picture = video.flatMap { video in
      video.starts.map { video.end(afterLast: $0) } ?? video.packets.compactMap(\.time).max()
    }
    return ([picture].compactMap { $0 } + audio.map(\.span.end)).max() ?? .zero
  }
}

extension VideoTimeline {
  /// Frames per second, on average.
  var frameRate: Double {
    guard let first = starts.first, end > first else { return 25 }
    return Double(count) / (end - first).seconds
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
