package import MediaTime

/// Requirements of an output for the way in which its source is played. The defaults are those of a
/// player.
package struct OutputRequirements: Sendable {
  /// True if it can hold transparency.
  package var holdsAlpha = false
  /// Highest frame rate it can hold; nil if unlimited. Faster video is thinned.
  package var fastest: FrameRate?
  /// True if players repeat it.
  package var isRepeated = false
  /// True if forward legs are taken from the source unchanged, from its first frame to its last.
  package var keepsForwardWhole = false
  /// Returns true for a video whose packets it takes unchanged.
  package var takesPackets: @Sendable (VideoIndex) -> Bool = { _ in false }

  package init() {}
}

/// Limit on the frames per second of a video.
package struct FrameRateLimit: Sendable {
  /// Requested rate; a faster video is thinned to it.
  var wanted: FrameRate?
  /// Highest rate that the output can hold.
  var fastest: FrameRate?

  package init(_ playback: PlaybackOptions = PlaybackOptions(), _ output: OutputRequirements = OutputRequirements()) {
    wanted = playback.frameRate
    fastest = output.fastest
  }

  /// Rate to thin a video to, by its frames per second; nil to keep all frames.
  func rate(of frameRate: Double) -> FrameRate? { wanted ?? fastest.flatMap { frameRate > $0.value ? $0 : nil } }
}
