import Containers
import GStreamer
import RetrogradeEngine

/// Run of a pipeline file: reads frames and audio samples from the decoding pipeline, reverses
/// them, and writes them through the encoding pipeline.
struct PipelineRun: Sendable {
  let file: PipelineFile
  let values: [String: String]
  /// Options for all settings that the pipeline file lacks.
  let options: ReverseOptions
  let work: Work

  /// Checks that the file can be run: both pipelines can be built, and have the same stream names.
  func check() throws {
    let pipelines = try file.resolved(values)
    _ = try PipelineSettings(pipelines, options)
    _ = try names(pipelines)
  }

  func run() throws -> Summary {
    let pipelines = try file.resolved(values)
    let inputs = (try? Pipeline(pipelines.decoding))?.files ?? []
    let settings = try PipelineSettings(pipelines, options)
    let playback = settings.options.playback
    Log.job.info("\(pipelines.name): \(playback.order), \(playback.count) times; reads \(inputs)")
    return try Outputs.write(overwrites: settings.options.output.overwrites, inputs: inputs) { outputs in
      try run(pipelines, settings, outputs, inputs)
    }
  }

  /// Returns warnings about damage that GStreamer does not report: it is visible only in the bytes
  /// of the input files.
  private func damage(_ inputs: [String]) throws -> [Warning] {
    try inputs.compactMap { path in
      let facts = ContainerFacts(path) { work.cancellation.isCancelled }
      try work.cancellation.check()
      if let failure = facts.readingFailure { throw RetrogradeError(reading: path, errno: failure) }
      return facts.report?.warning(naming: path)
    }
  }

  private func run(
    _ pipelines: ResolvedPipelines, _ settings: PipelineSettings, _ outputs: Outputs, _ inputs: [String]
  ) throws -> Summary {
    let options = settings.options
    let names = try names(pipelines)
    let written = try? Pipeline(pipelines.encoding)
    let locations = written?.outputLocations ?? []
    for location in locations { try outputs.begin(location.path, isNumbered: location.isNumbered) }
    let playback = options.playback
    let file = try inputs.first.flatMap { path in
      try inputs.count == 1
        ? PipelineSource(
          path,
          PlaybackSettings(
            playback, count: playback.count, resources: options.resources, gauge: work.gauge,
            cancellation: work.cancellation)) : nil
    }
    let indexer = PipelineIndexer(
      name: pipelines.name, decoding: pipelines.decoding, source: file,
      failure: { error in
        pipelines.failure(error, in: .decoding)
      }, rate: FrameRateLimit(playback), resources: options.resources, gauge: work.gauge,
      cancellation: work.cancellation
    ) { work.report(.indexing, $0) }
    work.scale.expect(.reversing(isVerified: false))
    let found = try indexer.run()
    var index = SourceIndex(
      recipe: nil, video: found.video?.source.video, audio: pipelines.inOrder(found.audio).map(\.track),
      tags: found.tags, warnings: found.warnings)
    file?.describe(&index)
    if let file, found.isWhole {
      file.compare(&index, found.video?.source)
    } else {
      index.warnings += try damage(inputs)
    }
    let source = try PlayableSource(
      self.file.name, index, found.video?.source, playback: playback, count: playback.count, stored: file?.stored)
    let audio = pipelines.inOrder(found.audio).filter {
      !$0.track.frames(during: source.legs.presentation.span).isEmpty
    }
    let orientation = settings.orientation ?? found.video?.source.video.tags?.string("image-orientation")
    let missing = names.subtracting([found.video?.name].compactMap { $0 } + audio.map(\.name))
    let details = CarriedDetails(source, playback, audio.map(\.name), writtenBy: written)
    var contents = details.contents(
      // Leave out streams without data, because a muxer would write an empty track for each.
      pipelines.encoding(without: missing),
      names: ([found.video?.name].compactMap { $0 }, audio.map(\.name), []),
      needsRate: { _ in found.video.map { written?.encodesHEVC($0.name) ?? false } ?? false }
    ) { pipeline in
      try PipelineRun.prepare(pipeline)
      return try PipelineRun.redirect(pipeline, to: outputs)
    }
    for (number, video) in contents.videos.enumerated() {
      contents.videos[number].orientation = orientation
      if written?.deinterlaces(video.name) ?? false { contents.videos[number].fieldOrder = nil }
    }
    contents.tags = settings.tags ?? details.writtenTags(audioLanguage: found.language)
    contents.encoder = options.encoding.encoder
    contents.isOfUser = true
    let pipeline = try EncodingPipeline(contents, for: pipelines.name, work.cancellation)
    let counts = try Feed(
      legs: source.legs, audioLegs: source.audioLegs, timing: playback.timing, videos: source.videos,
      audio: audio.map(\.track),
      isPadded: details.isPadded, pipeline: pipeline, work: work
    ).run()
    try work.cancellation.check()
    let warnings =
      (source.warnings + counts.warnings + details.unsupportedDetails + pipeline.unsupportedContent
      + lost(orientation, pipeline)).unique
    try warnings.check(isStrict: options.output.isStrict, pipelines.name)
    return Summary(
      output: Set(locations.map(\.path)).sorted().joined(separator: ", "), frames: counts.frames,
      samples: counts.samples,
      duration: counts.span.map { $0.end - pipeline.mirrorStart } ?? .zero, elapsed: work.elapsed,
      peakMemory: work.gauge.peak,
      plan: source.video?.plan, warnings: warnings)
  }

  /// Makes the sinks of the encoding pipeline write to the temporary files of `outputs`.
  /// - Returns: temporary path of the output if there is exactly one file; otherwise an empty
  ///   string.
  private static func redirect(_ pipeline: Pipeline, to outputs: Outputs) throws -> String {
    let locations = pipeline.outputLocations
    for location in locations {
      try location.element.set(location.property, outputs.location(of: location.path))
    }
    guard let location = locations.first, locations.count == 1, !location.isNumbered else { return "" }
    return try outputs.location(of: location.path)
  }

  private func lost(_ orientation: String?, _ pipeline: EncodingPipeline) -> [Warning] {
    guard let orientation, orientation != "rotate-0", !pipeline.hasMP4Header else { return [] }
    return [
      Warning(
        .detailLeftOut,
        "left out: the orientation (\(orientation)), since this container can't hold it; to rotate the frames instead, "
          + "add videoflip video-direction=auto to the first half")
    ]
  }

  /// Returns the names of the streams, which are the names of the appsinks. The appsrcs of the
  /// other half must have the same names.
  private func names(_ pipelines: ResolvedPipelines) throws -> Set<String> {
    func names(_ description: String, _ section: PipelineFile.Section, _ factory: String) throws -> Set<String> {
      do {
        return Set(try Pipeline(description).elements(ofFactory: factory).map(\.name))
      } catch let error as GStreamerError {
        throw pipelines.failure(error, in: section)
      }
    }
    let given = try names(pipelines.decoding, .decoding, "appsink")
    let taken = try names(pipelines.encoding, .encoding, "appsrc")
    let first = pipelines.lines.first { $0.section == .decoding }?.number ?? 1
    guard !given.isEmpty else {
      throw PipelineFile.failure(
        pipelines.name, .init(line: first, column: 1),
        "the first half needs an appsink for each stream to reverse, but has none")
    }
    if let lonely = given.symmetricDifference(taken).sorted().first {
      let (has, lacks) = given.contains(lonely) ? ("appsink", "appsrc") : ("appsrc", "appsink")
      let line = pipelines.lines.first { $0.text.contains("name=\(lonely)") }
      throw PipelineFile.failure(
        pipelines.name, .init(line: line?.number ?? first, column: 1),
        "\(has) \(lonely) has no \(lacks) of the same name in the other half")
    }
    return given
  }

  /// Sets the properties that the engine needs on each appsrc: timestamps in nanoseconds, and a
  /// short queue that blocks while it is full.
  private static func prepare(_ pipeline: Pipeline) throws {
    pipeline.rejectSpeedWithoutRate()
    for source in pipeline.elements(ofFactory: "appsrc") {
      for (property, value) in [("format", "time"), ("block", "true"), ("max-buffers", "4"), ("max-bytes", "0")] {
        try source.set(property, value)
      }
    }
  }
}
