/// Settings for playing a source: the options, the purpose, and the resources.
package struct PlaybackSettings: Sendable {
  package var playback: PlaybackOptions
  /// How often the loop is played; nil for ever.
  package var count: Int?
  package var output: OutputRequirements
  package var resources: Resources
  package var gauge: MemoryGauge
  package var cancellation: Cancellation
  package var purpose = Purpose.output

  /// Purpose of opening a source.
  package enum Purpose: Sendable {
    /// All of it is going to be played.
    case output
    /// A user waits for the first frame, so that no more of a long source is read than that takes.
    case watching
    /// Nothing is going to be played. Frames that are decoded all the same are counted, and not kept: that
    /// takes no room on the disk.
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

  /// Limit of the source's frames per second. Where a score plays them at another speed, that is for the
  /// output to limit.
  var sourceRate: FrameRateLimit {
    playback.score?.changesSpeed ?? false ? FrameRateLimit() : FrameRateLimit(playback, output)
  }

  /// The settings with this share of the memory for each of `count` sources that are read at once.
  package func shared(by count: Int) -> PlaybackSettings {
    var settings = self
    settings.resources = resources.shared(by: count)
    settings.gauge = MemoryGauge()
    return settings
  }
}
