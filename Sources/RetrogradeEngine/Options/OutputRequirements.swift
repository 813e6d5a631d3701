package import MediaTime

/// Requirements that an output imposes on playback of the source. The defaults suit a player.
package struct OutputRequirements: Sendable {
  /// True if the output can store transparency.
  package var holdsAlpha = false
  /// Highest frame rate of the output; nil if unlimited. Faster video is thinned.
  package var fastest: FrameRate?
  /// True if players loop the output.
  package var isRepeated = false
  /// True if the output copies forward legs from the source unchanged, from the first frame to the
  /// last.
  package var keepsForwardWhole = false
  /// Returns true for a video whose packets the output copies unchanged.
  package var takesPackets: @Sendable (VideoIndex) -> Bool = { _ in false }

  package init() {}
}

/// Limit on the frames per second of a video.
package struct FrameRateLimit: Sendable {
  /// Requested rate; faster video is thinned to this rate.
  var wanted: FrameRate?
  /// Highest rate of the output; nil if unlimited.
  var fastest: FrameRate?

  package init(_ playback: PlaybackOptions = PlaybackOptions(), _ output: OutputRequirements = OutputRequirements()) {
    wanted = playback.frameRate
    fastest = output.fastest
  }

  /// Returns the rate to which a video with `frameRate` frames per second is thinned; nil to keep
  /// all frames.
  func rate(of frameRate: Double) -> FrameRate? {
    guard let wanted else { return fastest.flatMap { frameRate > $0.value ? $0 : nil } }
    return fastest.flatMap { wanted.value > $0.value ? $0 : nil } ?? wanted
  }
}
