package import MediaTime

/// Frames that are shown, and when.
package struct Selection: Sendable {
  package let timeline: VideoTimeline
  /// The place of each frame of the timeline in the source; nil where they are the source's own.
  private let frames: [Int]?

  /// The frames of a timeline from `range` on, thinned to the rate that `limit` allows.
  init(_ timeline: VideoTimeline, range: TimeSpan?, limit: FrameRateLimit) {
    // Rate of the range: an index of no more of the source is to give the same.
    let frameRate = (range.map { timeline.clipped(to: $0).timeline } ?? timeline).frameRate
    if let rate = limit.rate(of: frameRate), let first = timeline.starts.first {
      let thinned = timeline.thinned(to: rate, from: max(first, range?.start ?? first))
      (frames, self.timeline) = (thinned.frames, thinned.timeline)
    } else {
      (frames, self.timeline) = (nil, timeline)
    }
  }

  /// When frame `number` of the source is shown during `span`; nil if it is not.
  func span(ofFrame number: Int, during span: TimeSpan) -> TimeSpan? {
    guard let frames else { return nil }
    let place = frames.endOfPrefix { $0 < number }
    guard place < frames.count, frames[place] == number else { return nil }
    let whole = timeline.span(of: place)
    let part = TimeSpan(start: max(whole.start, span.start), end: min(whole.end, span.end))
    return part.start < part.end ? part : nil
  }

  /// The frames that are given out during `span`, ascending: their numbers in the source, and when they are shown.
  /// - Parameter source: all of the source's frames.
  func given(during span: TimeSpan, of source: VideoTimeline) -> [(number: Int, span: TimeSpan)] {
    let (read, whole) = source.clipped(to: span)
    guard isThinned else { return read.map { ($0, whole.span(of: $0 - read.lowerBound)) } }
    return read.compactMap { number in self.span(ofFrame: number, during: span).map { (number, $0) } }
  }

  /// Whether some of the source's frames are left out.
  package var isThinned: Bool { frames != nil }
}
