package import MediaTime

/// Requirements of an output for the way in which its source is played. The defaults are those of a player.
package struct OutputRequirements: Sendable {
  /// Whether it can hold transparency.
  package var holdsAlpha = false
  /// More frames per second than this are thinned out; nil: it can hold any number.
  package var fastest: FrameRate?
  /// Whether players repeat it.
  package var isRepeated = false
  /// True if the forward parts are taken as they are in the source, and so from its first frame to its last.
  package var keepsForwardWhole = false
  /// Which videos it takes as packets, as they are.
  package var takesPackets: @Sendable (VideoIndex) -> Bool = { _ in false }

  package init() {}
}

/// How many frames per second are shown of a video.
package struct FrameRateLimit: Sendable {
  /// Rate that was asked for: the frames are shown at this rate, if there are more.
  var wanted: FrameRate?
  /// Fastest rate that the output can hold.
  var fastest: FrameRate?

  package init(_ playback: PlaybackOptions = PlaybackOptions(), _ output: OutputRequirements = OutputRequirements()) {
    wanted = playback.frameRate
    fastest = output.fastest
  }

  /// The rate to which a video of so many frames per second is thinned; nil: it is shown as it is.
  func rate(of frameRate: Double) -> FrameRate? { wanted ?? fastest.flatMap { frameRate > $0.value ? $0 : nil } }
}
