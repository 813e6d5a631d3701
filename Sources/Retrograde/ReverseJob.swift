import GStreamer
import MediaTime
import RetrogradeEngine

/// One reversal, from the file to the mirror, on threads of its own. Reading it from top to bottom is reading the design.
struct ReverseJob: Sendable {
  let input: String
  let options: ReverseOptions
  let cancellation: Cancellation
  let report: @Sendable (ReversalProgress) -> Void
  let drawing: FrameDrawing
  let gauge = MemoryGauge()
  private let began = Stopwatch()

  init(
    input: String, options: ReverseOptions, drawing: FrameDrawing = FrameDrawing(), cancellation: Cancellation,
    report: @escaping @Sendable (ReversalProgress) -> Void
  ) {
    self.drawing = drawing
    self.input = input
    self.options = options
    self.cancellation = cancellation
    self.report = report
  }

  /// Turns the source round, into `output`.
  func run(to output: String) throws -> Summary {
    try checkVerification(of: output)
    Log.job.info(
      "\(input) into \(output): \(options.playback.loop.rawValue), \(options.playback.count) times, with "
        + "\(options.resources.memory) of memory")
    let inputs = [input] + [options.subtitles].compactMap { $0 }
    let (job, counts) = try Outputs.write(overwrites: options.output.overwrites, inputs: inputs) { outputs in
      try outputs.begin(output)
      if let path = options.output.subtitles {
        try SubtitleFile.check(path)
        try outputs.begin(path, isNumbered: false)
      }
      let job = try prepare(output)
      if let path = options.output.subtitles { try SubtitleFile.check(path, has: job.source.index.subtitles) }
      // Known before any frame is encoded.
      try (job.source.warnings + job.choice.warnings).check(isStrict: options.output.isStrict, input)
      let counts = try job.run(outputs, gauge: gauge, cancellation: cancellation, report: report)
      if options.output.isVerified {
        try job.verify(outputs, against: input, cancellation: cancellation, report: report)
      }
      if let path = options.output.subtitles {
        try SubtitleFile.write(
          job.source.index.subtitles, job.source.legs.all, lead: drawing.lead, to: outputs.location(of: path), for: path
        )
      }
      return (job, counts)
    }
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: counts.duration,
      elapsed: began.elapsed, peakMemory: gauge.peak, plan: job.source.video?.plan,
      warnings: (job.source.warnings + counts.warnings).unique)
  }

  /// Finds out early whether the mirror, if that is asked for, can be compared with the source before it gets its name.
  private func checkVerification(of output: String) throws {
    guard options.output.isVerified else { return }
    if let pipe = ([input] + [options.subtitles].compactMap { $0 }).first(where: { !Source.canBeReadAgain($0) }) {
      throw RetrogradeError(
        .usage, "\(pipe): a pipe can't be read again to verify the mirror; leave out \(setting: .isVerified)")
    }
    guard !ImageSequence.isPattern(output) else {
      throw RetrogradeError(.usage, "\(output): numbered images can't be verified before they have their names")
    }
    guard drawing.overlay == nil, drawing.title == nil else {
      throw RetrogradeError(
        .usage, "\(output): what is drawn over frames differs from the source; leave out \(setting: .isVerified)")
    }
  }

  /// The pipelines that would turn the source round into `output`, in `gst-launch-1.0` syntax.
  func pipelines(to output: String) throws -> PipelineDescriptions {
    guard drawing.overlay == nil, drawing.title == nil else {
      throw RetrogradeError(.usage, "what is drawn over frames can't be printed as a pipeline")
    }
    var playedOnly = options
    playedOnly.playback.streams = options.playback.streams ?? .played
    let printed = ReverseJob(input: input, options: playedOnly, cancellation: cancellation, report: report)
    let job = try printed.prepare(output)
    if job.choice.container.animation != nil {
      throw RetrogradeError(.usage, "\(output): no GStreamer element writes it; --print-pipeline has nothing to print")
    }
    let plan = job.encoding(output)
    var settings: [String] = []
    if options.playback.loop != .reverse { settings.append("@loop \(options.playback.loop.rawValue)") }
    if options.playback.count != 1 { settings.append("@count \(options.playback.count)") }
    if options.playback.dropsSeam ?? false { settings.append("@seam drop") }
    if options.playback.timing != .mirror { settings.append("@timing \(options.playback.timing.rawValue)") }
    if let start = options.playback.start { settings.append("@start \(start)") }
    if let end = options.playback.end { settings.append("@end \(end)") }
    if let tags = plan.tags?.withDate.removing(MediaWriter.technical), !tags.isEmpty {
      settings.append("@tags \(tags)")
    }
    if let orientation = plan.videos.first?.orientation { settings.append("@orientation \(orientation)") }
    return PipelineDescriptions(
      decoding: PipelineFile.literal(job.source.index.decoding), encoding: PipelineFile.literal(plan.description),
      settings: settings.map(PipelineFile.literal))
  }

  private func prepare(_ output: String) throws -> OutputJob {
    var source = try open(for: try OutputRequirements(of: output, options.encoding))
    if let subtitles = options.subtitles {
      source.index.subtitles.append(try SubtitleFile.read(subtitles, options.resources, cancellation))
    }
    return try OutputJob(output, source, options, drawing)
  }

  /// - Parameter isDescribed: nothing of it is going to be played, so that nothing need be decoded for it that is known without.
  func open(for output: OutputRequirements = OutputRequirements(), isDescribed: Bool = false) throws -> PlayableSource {
    let tell: @Sendable (ClockTime) -> Void = { position in
      report(
        ReversalProgress(
          stage: .indexing, done: 0, total: 0, position: position, duration: .zero, elapsed: began.elapsed,
          memoryHeld: 0))
    }
    if let animation = try AnimationReader(input, playback: options.playback, for: output, options.resources) {
      return try isDescribed ? animation.described(gauge) : animation.decoded(gauge, cancellation, report: tell)
    }
    return try PlayableSource(
      input, playback: options.playback, count: options.playback.count, for: output, resources: options.resources,
      gauge: gauge, cancellation: cancellation, progress: tell)
  }
}

/// Seconds since it was made, by a clock that nobody sets.
struct Stopwatch: Sendable {
  private let start = ContinuousClock.now
  var elapsed: ClockTime { ClockTime(ContinuousClock.now - start) }
}
