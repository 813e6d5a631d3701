import GStreamer
import MediaTime
import RetrogradeEngine

extension PlayableSource {
  /// Returns the caps of the frames of `video` with the output's frame rate, or with `0/1` if the
  /// rate is variable.
  ///
  /// - Parameter needsRate: true if the encoder needs a frame rate. If so, the average rate
  ///   replaces a variable rate, because x265 does not start without a frame rate, and uses the
  ///   frame rate to distribute bits. Timestamps stay unchanged.
  func framed(
    _ caps: Caps, _ video: VideoSource, _ playback: PlaybackOptions, needsRate: Bool
  ) -> Caps {
    var rate = playback.frameRate ?? legs.speed.flatMap { video.rate?.times($0) }
    if needsRate, rate == nil {
      let mean = video.shown.timeline.frameRate * legs.meanSpeed
      rate = FrameRate(max(Int(mean.rounded()), 1), 1)
    }
    if legs.speed == 1, playback.frameRate == nil, rate == nil { return caps }
    return caps.setting("framerate", "(fraction)\(rate?.description ?? "0/1")")
  }
}

extension VideoSource {
  /// True if the source has no constant frame rate, because its frames have different durations.
  var hasNoRate: Bool { (caps.fraction("framerate")?.numerator ?? 0) == 0 }

  /// Frame rate in the source's caps; nil if variable.
  var rate: FrameRate? {
    caps.fraction("framerate").flatMap { $0.numerator > 0 ? FrameRate($0.numerator, $0.denominator) : nil }
  }
}
