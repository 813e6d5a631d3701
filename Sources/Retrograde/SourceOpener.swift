import GStreamer
import MediaTime
import RetrogradeEngine

/// Opens and indexes the files of a source.
struct SourceOpener {
  /// Playback settings of the complete source, which joins all files.
  var settings: PlaybackSettings
  /// Number of files.
  var count: Int
  /// Step of the run to which the progress of indexing counts.
  var step: Step
  var work: Work

  /// Opens a source of one file.
  func source(_ input: String) throws -> PlayableSource {
    try indexed(input, try fetched(input, 0), 0, settings, isQuick: settings.purpose == .watching)
  }

  /// Fetches the media behind a web address or a playlist; returns nil if `input` is neither.
  private func fetched(_ input: String, _ number: Int) throws -> FetchedFile? {
    try FetchedFile(input, settings.resources, work.cancellation) { done, total in
      work.report(
        .fetching, share: total > 0 ? share(Double(done) / Double(total), of: number) : nil, done: done, of: total,
        position: .zero)
    }
  }

  /// Converts the finished share of file `number` to the finished share of the step for all files.
  /// Both shares are from 0 to 1.
  private func share(_ part: Double, of number: Int) -> Double {
    (Double(number) + min(max(part, 0), 1)) / Double(count)
  }

  /// - Parameter isQuick: true to read only the part of a long source that playback needs. Damage
  ///   in the other parts is then not reported.
  private func indexed(
    _ input: String, _ fetched: FetchedFile?, _ number: Int, _ settings: PlaybackSettings, isQuick: Bool = false
  ) throws -> PlayableSource {
    let tell: @Sendable (IndexProgress) -> Void = { [self] progress in
      guard count > 1 else { return work.report(step, progress) }
      let part = progress.end.map { $0 > .zero ? progress.position / $0 : 0 } ?? 0
      work.report(step, share: share(part, of: number), position: progress.position, duration: progress.end ?? .zero)
    }
    if let animation = try AnimationReader(
      fetched?.path ?? Address.path(of: input), called: input, playback: settings.playback, for: settings.output,
      settings.resources)
    {
      return try settings.purpose == .description
        ? animation.described(work.gauge) : animation.decoded(work.gauge, work.cancellation, report: tell)
    }
    do {
      let opened = try OpenedSource(input, settings, fetched: fetched)
      return try isQuick
        ? PlayableSource(quickly: opened, settings, progress: tell)
        : PlayableSource(opened, settings, progress: tell)
    } catch let error as RetrogradeError {
      throw error.naming(spooled: input == "-" ? "standard input" : input)
    }
  }

  /// Joins several files, in this order, into one source.
  func joined(_ inputs: [String]) throws -> PlayableSource {
    guard inputs.count(where: { $0 == "-" }) < 2 else {
      throw RetrogradeError(.usage, "standard input can be read only once")
    }
    let fetched = try inputs.enumerated().map { try self.fetched($1, $0) }
    var whole = settings
    whole.playback = PlaybackOptions(
      loop: .forward, sequenceRate: settings.playback.sequenceRate, streams: settings.playback.streams,
      noAudio: settings.playback.noAudio, noVideo: settings.playback.noVideo)
    whole.count = 1
    whole.output.takesPackets = { _ in false }
    whole.output.keepsForwardWhole = false
    if settings.playback.dissolve > .zero { whole.resources = settings.resources.shared(by: 2) }
    // Decode only as much of each file as is needed to choose how to read the file.
    if settings.purpose == .output { whole.purpose = .watching }
    let sources = try zip(inputs, fetched).enumerated().map { number, input in
      let source = try indexed(input.0, input.1, number, whole)
      for video in source.videos { video.releaseDecoders() }
      return source
    }
    try check(inputs, sources)
    let first = sources[0].video
    var warnings: [Warning] = []
    let parts = zip(inputs, sources).map { name, source in
      let fit = source.video.flatMap { video in first.flatMap { FrameFit(video, like: $0) } }
      if fit != nil, let video = source.video, let first {
        warnings.append(FrameFit.warning(name, video, like: first))
      }
      return PlayableSource.Part(name: name, source: source, fit: fit)
    }
    var joined = try PlayableSource(joining: parts, as: Reverser.name(of: inputs), settings)
    joined.index.warnings += warnings
    return joined
  }

  private func check(_ inputs: [String], _ sources: [PlayableSource]) throws {
    let hasVideo = sources[0].video != nil
    guard let other = zip(inputs, sources).first(where: { ($0.1.video != nil) != hasVideo })?.0 else { return }
    let (with, without) = hasVideo ? (inputs[0], other) : (other, inputs[0])
    throw RetrogradeError(
      .usage, about: without, "has no video, so it can't be joined to \(with), which has video",
      remedy: "use \(setting: .noVideo) to join only the audio")
  }
}
