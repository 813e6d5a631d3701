import MediaTime

/// Computes the output times of the frames of one leg (a source part played in one direction), in
/// output order.
package struct OutputTimestamper: Sendable {
  let leg: PlaybackLeg
  /// Output times of the frames, ascending; nil unless the leg plays backwards with
  /// `Timing.source`.
  let borrowed: [TimeSpan]?
  /// Number of frames in the leg.
  let count: Int
  private var given = 0

  /// - Parameter timeline: timeline of the whole video.
  package init(_ leg: PlaybackLeg, timeline: VideoTimeline, timing: Timing) {
    self.leg = leg
    let shown = timeline.clipped(to: leg.span).timeline
    count = shown.count
    borrowed =
      timing == .source && leg.direction == .backward
      ? shown.mirrored(in: Presentation(leg.span), timing: .source).map {
        TimeSpan(start: $0.start + leg.start, end: $0.end + leg.start)
      } : nil
  }

  /// Returns the output time of the next frame.
  ///
  /// The latest source frame in the leg's span counts as shown until the span ends, so that a leg
  /// played backwards begins with a frame on screen.
  /// - Parameter span: time span of the frame in the source.
  package mutating func next(_ span: TimeSpan) -> TimeSpan {
    defer { given += 1 }
    if let borrowed, given < borrowed.count { return borrowed[given] }
    return leg.show(span, isFirst: given == 0, isLast: given == count - 1)
  }

  /// Skips the frames that are no longer shown at output time `time`.
  /// - Returns: number of frames that were output or skipped so far.
  mutating func skip(to time: ClockTime) -> Int {
    while let borrowed, given < borrowed.count, borrowed[given].end <= time { given += 1 }
    return given
  }
}
