import GStreamer
import RetrogradeEngine

extension Reverser {
  /// Describes the pipelines that would reverse the source into `output`, in `gst-launch-1.0`
  /// syntax.
  ///
  /// - Throws: ``RetrogradeError`` of code `usage` if `retrograde run` would write a different
  ///   output with these pipelines.
  func pipelines(to output: String, _ work: Work) throws -> PipelineDescriptions {
    try refuseUnprintable(output)
    let plan = try outputPlan(output, work)
    try refuseUnprintable(plan)
    let contents = plan.contents(output)
    let warnings = (plan.source.warnings + plan.choice.warnings + plan.details.unsupportedDetails).unique
    try warnings.check(isStrict: options.output.isStrict, input)
    let turned = contents.videos.first.map { $0.orientation ?? "rotate-0" }
    let settings = PipelineSettings(
      options: options,
      orientation: plan.videos.first?.video.tags?.string("image-orientation").flatMap { _ in turned })
    return PipelineDescriptions(
      decoding: PipelineFile.literal(plan.source.index.decoding),
      encoding: PipelineFile.literal(contents.description), settings: settings.lines.map(PipelineFile.literal),
      warnings: warnings)
  }

  /// Refuses options that a pipeline file can't express.
  private func refuseUnprintable(_ output: String) throws {
    guard inputs.count == 1 else {
      throw RetrogradeError(.usage, about: input, "a pipeline file can read only one source", remedy: "give one input")
    }
    if output == "-" {
      throw RetrogradeError(
        .usage, "a pipeline file can't write to standard output", remedy: "give an output file")
    }
    let alone = "it needs more than the two pipelines of a pipeline file"
    let reasons: [(isSet: Bool, setting: Setting, reason: Message)] = [
      (options.lettering.caption != nil, .caption, "it is drawn by this program, not by GStreamer"),
      (options.lettering.showsTimecode, .showsTimecode, "it is drawn by this program, not by GStreamer"),
      (options.encoding.maxSize != nil, .maxSize, "it needs several encodings, but a pipeline encodes once"),
      (options.soundtrack != nil, .soundtrack, "a pipeline file can read only one source"),
      (options.subtitles != nil, .subtitles, "a pipeline file can read only one source"),
      (options.output.subtitles != nil, .subtitlesOutput, "a pipeline file can't write subtitles"),
      (options.output.isVerified, .isVerified, "`retrograde run` can't verify its output"),
      (options.encoding.copiesForward, .copiesForward, "\(alone)"),
      (
        !options.encoding.encoderOptions.isEmpty, .encoderOptions,
        "a pipeline file uses encoding profiles, which can't set every property of an encoder"
      ),
    ]
    if let (_, setting, reason) = reasons.first(where: \.isSet) {
      throw RetrogradeError(
        .usage, "\(setting: setting) can't be printed as a pipeline: \(reason)",
        remedy: "leave out \(setting: setting)")
    }
    guard drawing.isEmpty else {
      throw RetrogradeError(
        .usage, "a pipeline file can't contain a drawing over frames", remedy: "leave out the drawing")
    }
  }

  /// Refuses sources and outputs for which a pipeline file can't give the same result as
  /// `retrograde reverse`.
  private func refuseUnprintable(_ plan: OutputPlan) throws {
    if plan.choice.container.animation != nil {
      throw RetrogradeError(
        .usage, about: plan.output, "--print-pipeline can't print a pipeline: no GStreamer element writes this format")
    }
    guard plan.source.isReadInPlace else {
      throw RetrogradeError(
        .usage, about: input, "a pipeline file can read only complete files on this machine",
        remedy: "save the source to a file first")
    }
    let kinds =
      [plan.videos.isEmpty ? nil : "video:0", plan.audio.isEmpty ? nil : plan.audio.count == 1 ? "audio:0" : "audio"]
      .compactMap { $0 } + ["chapters"]
    let source = plan.source
    let isMore = source.videos.count > min(plan.videos.count, 1) || source.audio.count > plan.audio.count
    if isMore || !source.index.subtitles.isEmpty {
      throw RetrogradeError(
        .usage, about: input, "has more streams than the pipeline file can reverse into \(plan.output)",
        remedy: "select streams with \(setting: .streams) \(kinds.joined(separator: ","))")
    }
    if plan.choice.videos.contains(where: { $0.packets != nil }) {
      throw RetrogradeError(
        .usage, about: input, "the video would be reversed without decoding, but a pipeline can't do that",
        remedy: "add \(setting: .reencodes)")
    }
  }
}
