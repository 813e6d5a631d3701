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
    var reader: VideoReader?
    var presentation: Presentation
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
    let reader = prepared.reader
    defer { if let reader { _ = try? reader.close() } }
    let file = try OutputFile(output, overwrites: options.overwrites, input: input)
    var isWhole = false
    defer { if !isWhole { file.discard() } }
    let writer = try MediaWriter(prepared.encoding(file.temporaryPath), for: output)
    let counts = try write(
      prepared.presentation, prepared.video == nil ? nil : reader, prepared.audio, writer, prepared.choice.container)
    let late = try reader?.close() ?? []
    try cancellation.check()
    try file.commit()
    isWhole = true
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: prepared.presentation.duration,
      elapsed: began.elapsed, peakMemory: gauge.peak, plan: reader?.plan,
      warnings: prepared.index.warnings + (reader?.warnings ?? []) + late + prepared.choice.warnings)
  }

  /// The pipelines that would turn the source round into `output`, in `gst-launch-1.0` syntax.
  func pipelines(to output: String) throws -> PipelineDescriptions {
    let source = try Source(input, options: options, cancellation: cancellation)
    let prepared = try prepare(source, output)
    _ = try prepared.reader?.close()
    return PipelineDescriptions(
      decoding: prepared.reader?.description, encoding: prepared.encoding(output).description)
  }

  private func prepare(_ source: Source, _ output: String) throws -> Preparation {
    guard !(options.noAudio && options.noVideo) else {
      throw RetrogradeError(.usage, "without video and without sound, nothing is left to write")
    }
    _ = try Container.of(output)
    var index = try makeIndex(source)
    let range = try self.range(in: index)
    let reader = try index.video.map { video in
      try VideoReader(index, video, range: range, options: options, gauge: gauge, cancellation: cancellation)
    }
    do {
      let presentation = try self.presentation(index, reader, range)
      index.audio = index.audio.filter { !$0.frames(in: presentation).isEmpty }
      let choice = try EncodingChoice(
        output: output, video: reader.flatMap { reader in index.video.map { (reader.caps, $0) } }, audio: index.audio,
        duration: index.presentationEnd, frameRate: reader?.frameRate ?? 0, options: options.encoding)
      return Preparation(
        index: index, reader: reader, presentation: presentation, choice: choice,
        video: choice.videoCodec == nil
          ? nil : reader.map { .init(caps: $0.caps.mirroredFields, tags: index.video?.tags) },
        audio: Array(index.audio.prefix(choice.audioCodecs.count)))
    } catch {
      _ = try? reader?.close()
      throw error
    }
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

  private func presentation(_ index: SourceIndex, _ reader: VideoReader?, _ range: TimeSpan?) throws -> Presentation {
    if let range { return Presentation(range) }
    var spans = index.audio.map(\.span)
    if let timeline = reader?.timeline, let first = timeline.starts.first {
      spans.append(TimeSpan(start: first, end: timeline.end))
    }
    guard let start = spans.map(\.start).min(), let end = spans.map(\.end).max(), start < end else {
      throw RetrogradeError(.damagedInput, "\(input): no picture and no sound can be read from it")
    }
    return Presentation(TimeSpan(start: start, end: end))
  }

  private func write(
    _ presentation: Presentation, _ video: VideoReader?, _ audio: [AudioTrack], _ writer: MediaWriter,
    _ container: Container
  ) throws -> (frames: Int, samples: [Int]) {
    try cancellation.onCancel({ writer.abort() }) {
      defer { writer.abort() }
      try writer.start()
      let soundWorkers = try audio.enumerated().map { index, track in
        try Worker("mirror audio \(index)") {
          try mirror(track, presentation, writer, writer.audio[index], container, isMain: video == nil && index == 0)
        }
      }
      let frames: Result<(count: Int, shown: ClockTime?), any Error> = Result {
        guard let video, let source = writer.video else { return (0, nil) }
        return try mirror(video, presentation, writer, source)
      }
      if case .failure = frames { writer.abort() }
      let samples = soundWorkers.map { worker in Result { try worker.join() } }
      try cancellation.check()
      let failures = ([frames.map { _ in }] + samples.map { $0.map { _ in } }).compactMap { result -> (any Error)? in
        if case .failure(let error) = result { error } else { nil }
      }
      // A thread that was woken because another failed says only that it was cancelled.
      if let error = failures.first(where: { ($0 as? RetrogradeError)?.code != .cancelled }) { throw error }
      let heard = samples.map { (try? $0.get()) ?? 0 }
      try writer.finish(heard: heard, shown: try? frames.get().shown)
      if let error = failures.first { throw error }
      return (try frames.get().count, heard)
    }
  }

  /// Gives out the frames of the video, last first.
  private func mirror(
    _ video: VideoReader, _ presentation: Presentation, _ writer: MediaWriter, _ source: AppSource
  ) throws -> (count: Int, shown: ClockTime?) {
    var start: ClockTime?
    var end = ClockTime.zero
    var clock = MirrorClock(presentation, timeline: video.timeline, timing: options.timing)
    var done = 0
    let watch = Stopwatch()
    while let part = try video.next() {
      for span in part.spans.reversed() {
        guard let frame = try part.window.pop() else { break }
        let shown = clock.next(span)
        try writer.push(
          frame.mirrored(pts: writer.mirrorStart + shown.start, duration: shown.duration), to: source)
        done += 1
        start = start ?? shown.start
        end = shown.end
        if done % 8 == 0 || done == video.timeline.count {
          report(
            Progress(
              stage: .reversing, done: done, total: max(video.timeline.count, done), position: shown.end,
              duration: presentation.duration, elapsed: watch.elapsed, memoryHeld: gauge.now))
        }
      }
    }
    source.endOfStream()
    return (done, start.map { end - $0 })
  }

  /// Gives out the sound, last sample frame first.
  private func mirror(
    _ track: AudioTrack, _ presentation: Presentation, _ writer: MediaWriter, _ source: AppSource,
    _ container: Container, isMain: Bool
  ) throws -> Int {
    let heard = track.frames(in: presentation)
    let start = presentation.span.end - ClockTime(sampleIndex: heard.upperBound, rate: track.rate)
    // Silence where the mirror begins without sound, in containers that can't leave a gap there.
    let silence = container.needsSoundFromStart ? max(0, start.sampleIndex(rate: track.rate)) : 0
    let total = heard.upperBound + silence
    let origin = silence > 0 ? .zero : start
    let watch = Stopwatch()
    var upper = total
    while upper > heard.lowerBound {
      try cancellation.check()
      let lower = max(heard.lowerBound, upper - 4096)
      let buffer = try Buffer(size: (upper - lower) * track.bytesPerFrame) { bytes in
        try track.read(lower..<upper, upTo: heard.upperBound, into: bytes)
        SampleFrames.reverse(bytes, bytesPerFrame: track.bytesPerFrame)
      }
      let shown = TimeSpan(
        start: origin + ClockTime(sampleIndex: total - upper, rate: track.rate),
        end: origin + ClockTime(sampleIndex: total - lower, rate: track.rate))
      buffer.stamp(pts: writer.mirrorStart + shown.start, duration: shown.duration)
      try writer.push(buffer, to: source)
      upper = lower
      if isMain {
        report(
          Progress(
            stage: .reversing, done: total - upper, total: total - heard.lowerBound, position: shown.end,
            duration: presentation.duration, elapsed: watch.elapsed, memoryHeld: gauge.now))
      }
    }
    source.endOfStream()
    return heard.count
  }
}

extension AudioTrack {
  /// The sample frames that are heard during a presentation.
  func frames(in presentation: Presentation) -> Range<Int> {
    let start = presentation.span.start.sampleIndex(rate: rate)
    let end = presentation.span.end.sampleIndex(rate: rate)
    return frames.clamped(to: start..<max(start, end))
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

extension VideoReader {
  /// Frames per second, on average.
  var frameRate: Double {
    guard let first = timeline.starts.first, timeline.end > first else { return 25 }
    return Double(timeline.count) / (timeline.end - first).seconds
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
