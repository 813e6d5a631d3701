import MediaTime
import RetrogradeEngine

extension PlayableSource {
  /// Opens one input (a file, numbered images, or standard input) or several joined inputs, and the
  /// subtitle file, if any.
  ///
  /// - Parameters:
  ///   - inputs: at least one; several inputs are joined in this order.
  ///   - step: step of the run to which the progress of indexing counts.
  static func open(
    _ inputs: [String], _ options: ReverseOptions, for output: OutputRequirements = OutputRequirements(), _ work: Work,
    as step: Step = .indexing, purpose: PlaybackSettings.Purpose = .output
  ) throws -> PlayableSource {
    var playback = options.playback
    playback.noAudio = playback.noAudio || options.soundtrack != nil
    var settings = PlaybackSettings(
      playback, count: playback.count, for: output, resources: options.resources, gauge: work.gauge,
      cancellation: work.cancellation)
    settings.purpose = purpose
    let opening = SourceOpener(settings: settings, count: inputs.count, step: step, work: work)
    var source = try inputs.count == 1 ? opening.source(inputs[0]) : opening.joined(inputs)
    if let soundtrack = options.soundtrack { try source.replaceAudio(soundtrack, settings) }
    if let subtitles = options.subtitles {
      let (track, warnings) = try SubtitleFile.read(subtitles, options.resources, work.cancellation)
      source.index.subtitles.append(track)
      source.index.warnings += warnings + [[track].neverShown].compactMap { $0 }
      if options.playback.start == nil, options.playback.end == nil {
        source.index.warnings += [source.index.lateSubtitles(in: [track])].compactMap { $0 }
      }
    }
    return source
  }

  /// Replaces the audio with the audio of the file at `path`.
  private mutating func replaceAudio(_ path: String, _ settings: PlaybackSettings) throws {
    var own = PlaybackSettings(
      PlaybackOptions(loop: .forward, noVideo: true), count: 1, resources: settings.resources, gauge: settings.gauge,
      cancellation: settings.cancellation)
    own.purpose = settings.purpose
    let soundtrack = try PlayableSource(OpenedSource(path, own), own) { _ in }
    guard !soundtrack.audio.isEmpty else {
      throw RetrogradeError(
        .noInput, about: path, "has no audio", remedy: "use a file with audio for \(setting: .soundtrack)")
    }
    let missing = setSoundtrack(soundtrack)
    if missing > .zero {
      index.warnings.append(
        Warning(.detailLeftOut, "the soundtrack ends \(missing) before the end of the output; the rest is silent"))
    }
  }
}
