import MediaTime
import RetrogradeEngine

extension PlayableSource {
  /// Opens a file, numbered images, or standard input, and the file of subtitles that goes with it.
  ///
  /// - Parameter isDescribed: nothing of it is going to be played, so that nothing need be decoded for it that is known without.
  static func open(
    _ input: String, _ options: ReverseOptions, for output: OutputRequirements = OutputRequirements(), _ work: Work,
    isDescribed: Bool = false
  ) throws -> PlayableSource {
    let tell: @Sendable (ClockTime) -> Void = { work.report(.indexing, position: $0) }
    var source: PlayableSource
    if let animation = try AnimationReader(input, playback: options.playback, for: output, options.resources) {
      source =
        try isDescribed
        ? animation.described(work.gauge) : animation.decoded(work.gauge, work.cancellation, report: tell)
    } else {
      let settings = PlaybackSettings(
        options.playback, count: options.playback.count, for: output, resources: options.resources,
        gauge: work.gauge, cancellation: work.cancellation)
      source = try PlayableSource(OpenedSource(input, settings), settings, progress: tell)
    }
    if let subtitles = options.subtitles {
      source.index.subtitles.append(try SubtitleFile.read(subtitles, options.resources, work.cancellation))
    }
    return source
  }
}
