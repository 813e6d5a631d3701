import MediaTime

extension VideoPlayer {
  /// Returns the number of frames in the output; nil for endless loops. Nothing is decoded.
  package static func frameCount(_ video: VideoSource, _ legs: PlaybackLegs, timing: Timing) -> Int? {
    guard legs.count != nil else { return nil }
    var count = 0
    var previous: (number: Int, leg: PlaybackLeg)?
    let making = legs.interpolates ? Interpolation(limit: legs.frameRate) : nil
    var thinning = legs.frameRate.map { Thinning($0, from: .zero) }
    for leg in legs.all {
      let given = video.shown.given(during: leg.span, of: video.timeline)
      guard let lowest = given.first?.number, let highest = given.last?.number else { continue }
      let (first, last) = leg.direction == .forward ? (lowest, highest) : (highest, lowest)
      let isOnShow = previous.map { $0.number == first && $0.leg.leaves(onShow: leg) } ?? false
      previous = (last, leg)
      guard thinning != nil || legs.interpolates else {
        count += given.count - (isOnShow ? 1 : 0)
        continue
      }
      var clock = OutputTimestamper(leg, timeline: video.shown.timeline, timing: timing)
      // Number of output frames for the previous frame, including interpolated ones. Added to
      // `count` only if another frame of the leg follows, because a leg's last frame is output
      // once. nil before the leg's first output frame.
      var parts: Int?
      for (place, frame) in (leg.direction == .forward ? given : given.reversed()).enumerated() {
        var shown = clock.next(frame.span)
        if isOnShow && place == 0 { continue }
        if thinning != nil {
          guard let slot = thinning?.place(shown) else { continue }
          shown = slot
        }
        count += parts ?? 0
        parts = making?.parts(moving: shown.clamped(to: leg.moving), frame.span) ?? 1
      }
      if parts != nil { count += 1 }
    }
    return count
  }
}
