import GStreamer
import RetrogradeEngine

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
    /// Whether the picture is to be written.
    var hasPicture: Bool
    /// The streams of sound to be written.
    var audio: [AudioTrack]

    func encoding(_ path: String) -> MediaWriter.Plan {
      let video = hasPicture ? source.video : nil
      let isBackward = source.legs[0]?.direction == .backward
      return MediaWriter.Plan(
        description: MediaWriter.description(
          to: path, choice, video: video.map { $0.video.tags }, audio: audio.map(\.tags)),
        video: video.map { .init(name: "video", caps: isBackward ? $0.caps.mirroredFields : $0.caps) },
        audio: audio.enumerated().map { .init(name: "audio\($0)", caps: $1.caps) }, tags: source.index.tags,
        orientation: choice.container.carriesOrientation ? video?.video.tags?.string("image-orientation") : nil,
        prepare: { _ in path })
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
    let pump = Pump(timing: options.timing, gauge: gauge, cancellation: cancellation, report: report)
    let counts = try pump.run(
      source.legs, prepared.hasPicture ? source.video : nil, prepared.audio, writer,
      isPadded: prepared.choice.container.needsSoundFromStart)
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
    let plan = prepared.encoding(output)
    var settings: [String] = []
    if options.loop != .reverse { settings.append("@loop \(options.loop.rawValue)") }
    if options.count != 1 { settings.append("@count \(options.count)") }
    if options.dropsSeam { settings.append("@seam drop") }
    if options.timing != .mirror { settings.append("@timing \(options.timing.rawValue)") }
    if let start = options.start { settings.append("@start \(start)") }
    if let end = options.end { settings.append("@end \(end)") }
    if let tags = plan.tags?.withDate.removing(MediaWriter.technical), !tags.isEmpty {
      settings.append("@tags \(tags)")
    }
    if let orientation = plan.orientation { settings.append("@orientation \(orientation)") }
    return PipelineDescriptions(
      decoding: PipelineFile.literal(prepared.source.index.decoding), encoding: PipelineFile.literal(plan.description),
      settings: settings.map(PipelineFile.literal))
  }

  private func prepare(_ output: String) throws -> Preparation {
    _ = try Container.of(output)
    let source = try open()
    let choice = try EncodingChoice(
      output: output, video: source.video.map { ($0.caps, $0.video) }, audio: source.audio,
      duration: source.index.presentationEnd, frameRate: source.video?.timeline.frameRate ?? 0,
      options: options.encoding)
    return Preparation(
      source: source, choice: choice, hasPicture: choice.videoCodec != nil,
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
}

/// Seconds since it was made, by a clock that nobody sets.
struct Stopwatch: Sendable {
  private let start = ContinuousClock.now
  var elapsed: Double {
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }
}
