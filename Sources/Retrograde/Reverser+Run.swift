import GStreamer
import MediaTime
import RetrogradeEngine

extension Reverser {
  /// Reverses the source into `output`: plans, writes and verifies. The body is an outline of the
  /// library's design.
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
      // In strict mode, warnings are errors. Fail before any frame is encoded.
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
      warnings: (plan.source.warnings + counts.warnings + counts.qualityReductions).unique,
      written: WrittenMedia(
        container: WrittenMedia.containerName(of: Container.fileName(output, format: options.encoding.format)),
        streams: counts.streams),
      changes: plan.choice.changes, fetched: plan.source.fetchedBytes.map { ByteCount($0) })
  }

  /// If verification is requested, checks in advance that the output can be compared with its
  /// source.
  private func checkVerification(of output: String) throws {
    guard options.output.isVerified else { return }
    if let pipe = files.first(where: { !Source.isReopenable($0) }) {
      throw RetrogradeError(
        .usage, about: pipe, "a pipe can't be read a second time to verify the output",
        remedy: "leave out \(setting: .isVerified)")
    }
    guard !ImageSequence.isPattern(output) else {
      throw RetrogradeError(.usage, about: output, "\(setting: .isVerified) can't be used for numbered images")
    }
    guard options.encoding.maxSize == nil else {
      throw RetrogradeError(
        .usage, about: output,
        "\(setting: .isVerified) can't be used with \(setting: .maxSize), which may change the frames to save space",
        remedy: "leave out \(setting: .isVerified)")
    }
    guard drawing.isEmpty else {
      throw RetrogradeError(
        .usage, about: output, "\(setting: .isVerified) can't be used if something is drawn over the frames",
        remedy: "leave out \(setting: .isVerified)")
    }
  }

  func outputPlan(_ output: String, _ work: Work) throws -> OutputPlan {
    guard !inputs.isEmpty else { throw RetrogradeError(.usage, "no input file is given") }
    if inputs.count > 1, options.encoding.copiesForward {
      throw RetrogradeError(
        .usage, about: input, "the forward parts of joined files can't be copied",
        remedy: "leave out \(setting: .copiesForward)")
    }
    var requirements = try OutputRequirements(of: output, options.encoding)
    if drawing.isEmpty, !options.playback.mixesFrames, inputs.count == 1 {
      let packets = PacketOutput(try Container.of(output, format: options.encoding.format), options)
      requirements.takesPackets = { packets.refusal(of: $0) == nil }
    }
    return try OutputPlan(output, try PlayableSource.open(inputs, options, for: requirements, work), options, drawing)
  }

  /// All files that the run reads: the inputs, the subtitle file and the soundtrack.
  var files: [String] { inputs + [options.subtitles, options.soundtrack].compactMap { $0 } }

  var drawing: FrameDrawing { FrameDrawing(lettering: options.lettering, overlay: overlay, title: title) }
}
