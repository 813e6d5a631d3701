/// Settings for playing a source: the options, the purpose, and the resources.
package struct PlaybackSettings: Sendable {
  package var playback: PlaybackOptions
  /// Number of times the loop is played; nil for an endless loop.
  package var count: Int?
  package var output: OutputRequirements
  package var resources: Resources
  package var gauge: MemoryGauge
  package var cancellation: Cancellation
  package var purpose = Purpose.output

  /// Purpose of opening a source.
  package enum Purpose: Sendable {
    /// All of the source will be played.
    case output
    /// A user waits for the first frame, so only the necessary part of a long source is read.
    case watching
    /// Nothing will be played. Frames that have to be decoded are counted but not kept, so no disk
    /// space is needed.
    case description
  }

  package init(
    _ playback: PlaybackOptions, count: Int?, for output: OutputRequirements = OutputRequirements(),
    resources: Resources, gauge: MemoryGauge = MemoryGauge(), cancellation: Cancellation
  ) {
    self.playback = playback
    self.count = count
    self.output = output
    self.resources = resources
    self.gauge = gauge
    self.cancellation = cancellation
  }

  /// Limit on the source's frame rate. There is no limit if a score changes the speed, because the
  /// output's frame rate is limited instead.
  var sourceRate: FrameRateLimit {
    playback.score?.changesSpeed ?? false ? FrameRateLimit() : FrameRateLimit(playback, output)
  }

  /// Returns the settings for one of `count` sources that are read at once, with an equal share of
  /// the memory.
  package func shared(by count: Int) -> PlaybackSettings {
    var settings = self
    settings.resources = resources.shared(by: count)
    settings.gauge = MemoryGauge()
    return settings
  }
}
