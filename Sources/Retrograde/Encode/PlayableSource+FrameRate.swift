import GStreamer
import MediaTime
import RetrogradeEngine

extension PlayableSource {
  /// `caps` of frames of `video`, with the output's frame rate, or `0/1` if that is not constant.
  ///
  /// - Parameter needsRate: whether the encoder needs a rate: the mean one, if it is not constant. x265
  ///   distributes its bits by it, and does not start without. The times of the frames stay as they are.
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
  /// Whether its frames are shown for different lengths of time, and nothing says how many there are in a second.
  var hasNoRate: Bool { (caps.fraction("framerate")?.numerator ?? 0) == 0 }

  /// The frames per second that the source names.
  var rate: FrameRate? {
    caps.fraction("framerate").flatMap { $0.numerator > 0 ? FrameRate($0.numerator, $0.denominator) : nil }
  }
}
