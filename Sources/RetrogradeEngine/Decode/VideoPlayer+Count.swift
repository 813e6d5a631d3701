import MediaTime

extension VideoPlayer {
  /// Returns the number of frames in the output; nil for endless loops. Nothing is decoded.
  package static func frameCount(_ video: VideoSource, _ legs: PlaybackLegs, timing: Timing) -> Int? {
    let making = legs.interpolates ? Interpolation(limit: legs.frameRate) : nil
    return count(legs, timing, video.shown.timeline, making: making, limit: legs.frameRate) {
      video.shown.given(during: $0, of: video.timeline)
    }
  }

  /// Returns the number of frames in the legs (`all`), and how many of them are dropped to limit
  /// the frame rate (`count`); nil for endless loops. Interpolated frames are not counted. Nothing
  /// is decoded.
  package static func dropped(_ video: VideoSource, _ legs: PlaybackLegs, timing: Timing) -> (count: Int, all: Int)? {
    let whole = count(legs, timing, video.timeline, making: nil, limit: nil) { span in
      let (frames, part) = video.timeline.clipped(to: span)
      return frames.map { (number: $0, span: part.span(of: $0 - frames.lowerBound)) }
    }
    let kept = count(legs, timing, video.shown.timeline, making: nil, limit: legs.frameRate) {
      video.shown.given(during: $0, of: video.timeline)
    }
    guard let whole, let kept else { return nil }
    return (max(whole - kept, 0), whole)
  }

  /// - Parameters:
  ///   - limit: highest frame rate of the output; nil if unlimited.
  ///   - frames: returns the frames that are output during a span, ascending: their numbers in the
  ///     source, and their display times.
  private static func count(
    _ legs: PlaybackLegs, _ timing: Timing, _ timeline: VideoTimeline, making: Interpolation?, limit: FrameRate?,
    _ frames: (TimeSpan) -> [(number: Int, span: TimeSpan)]
  ) -> Int? {
    guard legs.count != nil else { return nil }
    var count = 0
    var previous: (number: Int, leg: PlaybackLeg)?
    var thinning = limit.map { Thinning($0, from: .zero) }
    for leg in legs.all {
      let given = frames(leg.span)
      guard let lowest = given.first?.number, let highest = given.last?.number else { continue }
      let (first, last) = leg.direction == .forward ? (lowest, highest) : (highest, lowest)
      let isOnShow = previous.map { $0.number == first && $0.leg.leaves(onShow: leg) } ?? false
      previous = (last, leg)
      guard thinning != nil || making != nil else {
        count += given.count - (isOnShow ? 1 : 0)
        continue
      }
      var clock = OutputTimestamper(leg, timeline: timeline, timing: timing)
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
