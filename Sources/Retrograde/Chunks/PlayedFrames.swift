import MediaTime
import RetrogradeEngine

/// Frames of a video in the order of play, computed without decoding.
struct PlayedFrames: Sendable {
  struct Frame: Sendable {
    /// Start and end in the output.
    var shown: TimeSpan
    /// Start and end in the source.
    var source: TimeSpan
    /// Number of the leg that plays it.
    var leg: Int
  }

  let frames: [Frame]
  /// Times of the source's keyframes.
  let keyframes: [ClockTime]

  init(_ video: VideoSource, _ legs: PlaybackLegs, _ timing: Timing) {
    let timeline = video.shown.timeline
    // Keyframes come from the index: decoding may output fewer frames than it has.
    keyframes = video.video.starts.map { starts in video.video.keyframes.map { starts[$0] } } ?? []
    var frames: [Frame] = []
    var last: (start: ClockTime, leg: PlaybackLeg)?
    for (number, leg) in legs.all.enumerated() {
      var clock = OutputTimestamper(leg, timeline: timeline, timing: timing)
      let (places, clipped) = timeline.clipped(to: leg.span)
      let order = leg.direction == .forward ? Array(0..<clipped.count) : (0..<clipped.count).reversed()
      for place in order {
        let span = clipped.span(of: place)
        let shown = clock.next(span)
        let start = timeline.starts[places.lowerBound + place]
        // Same rule as in VideoPlayer.
        if let last, last.start == start, last.leg.leaves(onShow: leg) { continue }
        last = (start, leg)
        frames.append(Frame(shown: shown, source: span, leg: number))
      }
    }
    self.frames = frames
  }

  /// True if the frames from `place` on, in the order of play, need no frame that is decoded for
  /// those before.
  func canCut(before place: Int) -> Bool {
    let (frame, before) = (frames[place].source, frames[place - 1].source)
    // A group must begin between the two in the source: the later frame is its first, or follows
    // frames of it that are not shown.
    let (early, late) = frame.start < before.start ? (frame, before) : (before, frame)
    let next = keyframes.endOfPrefix { $0 <= early.start }
    return next < keyframes.count && keyframes[next] < late.end && keyframes[next] <= late.start
  }
}
