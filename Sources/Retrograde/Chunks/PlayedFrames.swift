import MediaTime
import RetrogradeEngine

/// The frames of a video in the order of play, without decoding any.
struct PlayedFrames: Sendable {
  struct Frame: Sendable {
    /// When it is shown in the output.
    var shown: TimeSpan
    /// Which of the source it is.
    var source: TimeSpan
    /// The number of the leg that plays it, among those that play anything.
    var leg: Int
  }

  let frames: [Frame]
  /// When the source's keyframes are shown.
  let keyframes: [ClockTime]

  init(_ video: VideoSource, _ legs: PlaybackLegs, _ timing: Timing) {
    let timeline = video.shown.timeline
    // Keyframes of the index: fewer frames may come than it has.
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
        // As in VideoPlayer.
        if let last, last.start == start, last.leg.leaves(onShow: leg) { continue }
        last = (start, leg)
        frames.append(Frame(shown: shown, source: span, leg: number))
      }
    }
    self.frames = frames
  }

  /// Whether the frames from `place` on, in the order of play, need none that is decoded for those before.
  func canCut(before place: Int) -> Bool {
    let (frame, before) = (frames[place].source, frames[place - 1].source)
    // Between the two, in the source, begins a group: the later one of them is its first frame, or comes after one that is not shown.
    let (early, late) = frame.start < before.start ? (frame, before) : (before, frame)
    let next = keyframes.endOfPrefix { $0 <= early.start }
    return next < keyframes.count && keyframes[next] < late.end && keyframes[next] <= late.start
  }
}
