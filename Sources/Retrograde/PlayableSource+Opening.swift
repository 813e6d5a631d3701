import MediaTime
import RetrogradeEngine

extension PlayableSource {
  /// Opens a file, numbered images, or standard input, and the file of subtitles that goes with it.
  ///
  /// - Parameters:
  ///   - step: what indexing it is, of all of the work.
  ///   - isDescribed: nothing of it is going to be played, so that nothing need be decoded for it that is known without.
  static func open(
    _ input: String, _ options: ReverseOptions, for output: OutputRequirements = OutputRequirements(), _ work: Work,
    as step: Step = .indexing, isDescribed: Bool = false
  ) throws -> PlayableSource {
    let tell: @Sendable (IndexProgress) -> Void = { work.report(step, $0) }
    var source: PlayableSource
    var playback = options.playback
    playback.noAudio = playback.noAudio || options.soundtrack != nil
    let fetched = try FetchedFile(input, options.resources, work.cancellation) { done, total in
      work.report(.fetching, done: done, of: total, position: .zero)
    }
    let path = fetched?.path ?? Address.path(of: input)
    if let animation = try AnimationReader(
      path, called: input, playback: playback, for: output, options.resources)
    {
      source =
        try isDescribed
        ? animation.described(work.gauge) : animation.decoded(work.gauge, work.cancellation, report: tell)
    } else {
      let settings = PlaybackSettings(
        playback, count: playback.count, for: output, resources: options.resources,
        gauge: work.gauge, cancellation: work.cancellation)
      do {
        source = try PlayableSource(OpenedSource(input, settings, fetched: fetched), settings, progress: tell)
      } catch let error as RetrogradeError {
        throw error.naming(spooled: input == "-" ? "standard input" : input)
      }
    }
    if let soundtrack = options.soundtrack { try source.hear(soundtrack, options.resources, work) }
    if let subtitles = options.subtitles {
      source.index.subtitles.append(try SubtitleFile.read(subtitles, options.resources, work.cancellation))
    }
    return source
  }

  /// Replaces its audio with that of a file.
  private mutating func hear(_ path: String, _ resources: Resources, _ work: Work) throws {
    let settings = PlaybackSettings(
      PlaybackOptions(loop: .forward, noVideo: true), count: 1, resources: resources, gauge: work.gauge,
      cancellation: work.cancellation)
    let soundtrack = try PlayableSource(OpenedSource(path, settings), settings) { _ in }
    guard !soundtrack.audio.isEmpty else {
      throw RetrogradeError(
        .noInput, about: path, "has no audio", remedy: "name a file that has, for \(setting: .soundtrack)")
    }
    let missing = hear(soundtrack)
    if missing > .zero {
      index.warnings.append(
        Warning(.detailLeftOut, "the soundtrack ends \(missing) before the end; the rest is silent"))
    }
  }
}
