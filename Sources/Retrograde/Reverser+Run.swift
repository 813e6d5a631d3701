import GStreamer
import MediaTime
import RetrogradeEngine

extension Reverser {
  /// Turns the source round, into `output`, from the file to the mirror. Reading it from top to bottom is reading the design.
  func run(to output: String, _ work: Work) throws -> Summary {
    try checkVerification(of: output)
    Log.job.info(
      "\(input) into \(output): \(options.playback.order), \(options.playback.count) times, with "
        + "\(options.resources.memory) of memory")
    work.scale.expect(
      .reversing(isVerified: options.output.isVerified, isFetched: inputs.contains(where: Address.isOfWeb)))
    let (plan, counts) = try Outputs.write(
      overwrites: options.output.overwrites, inputs: files, pipe: (options.resources, work.cancellation)
    ) { outputs in
      try outputs.begin(output)
      if let path = options.output.subtitles {
        try SubtitleFile.check(path)
        try outputs.begin(path, isNumbered: false)
      }
      let plan = try outputPlan(output, work)
      if let path = options.output.subtitles { try SubtitleFile.check(path, has: plan.source.index.subtitles) }
      // Known before any frame is encoded.
      try (plan.source.warnings + plan.choice.warnings).check(isStrict: options.output.isStrict, input)
      work.scale.expect(plan.steps)
      let counts = try plan.write(outputs, work)
      if options.output.isVerified { try plan.verify(outputs, against: inputs, work) }
      if let path = options.output.subtitles {
        try SubtitleFile.write(
          plan.source.index.subtitles, plan.source.legs.all, lead: drawing.lead, to: outputs.location(of: path),
          for: path
        )
      }
      return (plan, counts)
    }
    return Summary(
      output: output, frames: counts.frames, samples: counts.samples, duration: counts.duration,
      elapsed: work.elapsed, peakMemory: work.gauge.peak, plan: plan.source.video?.plan,
      warnings: (plan.source.warnings + counts.warnings + counts.concessions).unique,
      written: WrittenMedia(
        container: WrittenMedia.containerName(of: Container.fileName(output, format: options.encoding.format)),
        streams: counts.streams),
      changes: plan.choice.changes, fetched: plan.source.fetchedBytes.map { ByteCount($0) })
  }

  /// Finds out early whether the mirror, if that is asked for, can be compared with the source before it gets its name.
  private func checkVerification(of output: String) throws {
    guard options.output.isVerified else { return }
    if let pipe = files.first(where: { !Source.canBeReadAgain($0) }) {
      throw RetrogradeError(
        .usage, about: pipe, "a pipe can't be read again to verify the mirror",
        remedy: "leave out \(setting: .isVerified)")
    }
    guard !ImageSequence.isPattern(output) else {
      throw RetrogradeError(.usage, about: output, "numbered images can't be verified before they have their names")
    }
    guard options.encoding.maxSize == nil else {
      throw RetrogradeError(
        .usage, about: output, "\(setting: .maxSize) may take of it whatever makes it too large",
        remedy: "leave out \(setting: .isVerified)")
    }
    guard drawing.isEmpty else {
      throw RetrogradeError(
        .usage, about: output, "what is drawn over frames differs from the source",
        remedy: "leave out \(setting: .isVerified)")
    }
  }

  /// The pipelines that would turn the source round into `output`, in `gst-launch-1.0` syntax.
  func pipelines(to output: String, _ work: Work) throws -> PipelineDescriptions {
    guard drawing.isEmpty else {
      throw RetrogradeError(.usage, "what is drawn over frames can't be printed as a pipeline")
    }
    guard output != "-" else {
      throw RetrogradeError(
        .usage, "a pipeline file names the file that it writes", remedy: "name one, in place of standard output")
    }
    guard options.encoding.maxSize == nil else {
      throw RetrogradeError(.usage, "\(setting: .maxSize): what it takes is found by trying, which is not one pipeline")
    }
    let others = [(options.soundtrack, Setting.soundtrack), (options.subtitles, .subtitles)]
    if let other = others.first(where: { $0.0 != nil })?.1 {
      throw RetrogradeError(
        .usage, "\(setting: other): a pipeline file reads one source", remedy: "leave it out")
    }
    guard options.output.subtitles == nil else {
      throw RetrogradeError(
        .usage, "\(setting: .subtitlesOutput): a pipeline file has no subtitles",
        remedy: "leave it out")
    }
    guard !options.output.isVerified else {
      throw RetrogradeError(
        .usage, "\(setting: .isVerified): `retrograde run` does not verify",
        remedy: "leave it out, and verify the file afterwards")
    }
    guard inputs.count == 1 else {
      throw RetrogradeError(.usage, about: input, "a pipeline file reads one source", remedy: "name one file")
    }
    guard options.encoding.encoderOptions.isEmpty else {
      throw RetrogradeError(
        .usage,
        "\(setting: .encoderOptions) can't be printed: encoding profiles have no way to write all that encoders take",
        remedy: "leave it out, and put the options into what is printed")
    }
    var playedOnly = options
    playedOnly.playback.streams = options.playback.streams ?? .played
    playedOnly.encoding.reencodes = true
    let written = try Reverser(inputs, options: playedOnly).outputPlan(output, work)
    if written.choice.container.animation != nil {
      throw RetrogradeError(
        .usage, about: output, "no GStreamer element writes it; --print-pipeline has nothing to print")
    }
    try (written.source.warnings + written.choice.warnings).check(
      isStrict: options.output.isStrict, input)
    let contents = written.contents(output)
    let settings = PipelineSettings.lines(
      options, contents.tags?.withDate.removing(EncodingPipeline.technical),
      contents.videos.first?.orientation)
    return PipelineDescriptions(
      decoding: PipelineFile.literal(written.source.index.decoding),
      encoding: PipelineFile.literal(contents.description),
      settings: settings.map(PipelineFile.literal))
  }

  func outputPlan(_ output: String, _ work: Work) throws -> OutputPlan {
    guard !inputs.isEmpty else { throw RetrogradeError(.usage, "no file is named that could be turned round") }
    if inputs.count > 1, options.encoding.copiesForward {
      throw RetrogradeError(
        .usage, about: input, "what several files have played forwards can't be copied as it is",
        remedy: "leave out \(setting: .copiesForward)")
    }
    var requirements = try OutputRequirements(of: output, options.encoding)
    if drawing.isEmpty, !options.playback.mixesFrames, inputs.count == 1 {
      let packets = PacketOutput(try Container.of(output, format: options.encoding.format), options)
      requirements.takesPackets = { packets.refusal(of: $0) == nil }
    }
    return try OutputPlan(output, try PlayableSource.open(inputs, options, for: requirements, work), options, drawing)
  }

  /// The files that it reads.
  private var files: [String] { inputs + [options.subtitles, options.soundtrack].compactMap { $0 } }

  private var drawing: FrameDrawing { FrameDrawing(lettering: options.lettering, overlay: overlay, title: title) }
}
