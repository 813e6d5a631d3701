package import MediaTime

/// Frames to show, and their display times.
package struct Selection: Sendable {
  package let timeline: VideoTimeline
  /// Number in the source of each frame of ``timeline``; nil if no frame is dropped.
  private let frames: [Int]?

  /// Selects frames of a timeline. From the start of `range` on, frames are dropped to meet the
  /// rate that `limit` allows.
  init(_ timeline: VideoTimeline, range: TimeSpan?, limit: FrameRateLimit) {
    // Use the frame rate of the range, so that an index of only this range gives the same result.
    let frameRate = (range.map { timeline.clipped(to: $0).timeline } ?? timeline).frameRate
    if let rate = limit.rate(of: frameRate), let first = timeline.starts.first {
      let thinned = timeline.thinned(to: rate, from: max(first, range?.start ?? first))
      (frames, self.timeline) = (thinned.frames, thinned.timeline)
    } else {
      (frames, self.timeline) = (nil, timeline)
    }
  }

  /// Returns the display time of source frame `number` within `span`; nil if the frame is not shown
  /// during `span`, or if the selection drops no frames at all.
  func span(ofFrame number: Int, during span: TimeSpan) -> TimeSpan? {
    guard let frames else { return nil }
    let place = frames.endOfPrefix { $0 < number }
    guard place < frames.count, frames[place] == number else { return nil }
    let whole = timeline.span(of: place)
    let part = TimeSpan(start: max(whole.start, span.start), end: min(whole.end, span.end))
    return part.start < part.end ? part : nil
  }

  /// Returns the frames output during `span`, ascending: their numbers in the source, and their
  /// display times.
  /// - Parameter source: timeline of all frames of the source.
  func given(during span: TimeSpan, of source: VideoTimeline) -> [(number: Int, span: TimeSpan)] {
    let (read, whole) = source.clipped(to: span)
    guard isThinned else { return read.map { ($0, whole.span(of: $0 - read.lowerBound)) } }
    return read.compactMap { number in self.span(ofFrame: number, during: span).map { (number, $0) } }
  }

  /// True if some of the source's frames are dropped.
  package var isThinned: Bool { frames != nil }
}
