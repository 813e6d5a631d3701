import MediaTime
import RetrogradeEngine

/// Frames of a video in the order of play, computed without decoding.
struct PlayedFrames: Sendable {
  struct Frame: Sendable {
    /// Start and end in the output.
    var shown: TimeSpan
    /// Start and end in the source.
    var source: TimeSpan
    /// Number of the leg (a part played in one direction) that plays the frame.
    var leg: Int
  }

  let frames: [Frame]
  /// Times of the source's keyframes.
  let keyframes: [ClockTime]

  init(_ video: VideoSource, _ legs: PlaybackLegs, _ timing: Timing) {
    let timeline = video.shown.timeline
    // Take keyframe times from the index, since `timeline` lacks frames that the decoder does not
    // output.
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
        // Skip a frame that two adjacent legs share, as VideoPlayer does.
        if let last, last.start == start, last.leg.leaves(onShow: leg) { continue }
        last = (start, leg)
        frames.append(Frame(shown: shown, source: span, leg: number))
      }
    }
    self.frames = frames
  }

  /// True if a chunk can begin at frame `place`, that is, if this frame and the frame played before
  /// it are decoded from different groups of pictures.
  func canCut(before place: Int) -> Bool {
    let (frame, before) = (frames[place].source, frames[place - 1].source)
    // In the source, a group of pictures must begin after the start of the earlier frame, and at or
    // before the start of the later frame. The later frame need not be the group's keyframe: the
    // frames between keyframe and later frame are not played.
    let (early, late) = frame.start < before.start ? (frame, before) : (before, frame)
    let next = keyframes.endOfPrefix { $0 <= early.start }
    return next < keyframes.count && keyframes[next] < late.end && keyframes[next] <= late.start
  }
}
