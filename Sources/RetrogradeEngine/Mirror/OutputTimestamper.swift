import MediaTime

/// Gives the frames of one leg their times in the output, in the order in which they are given out.
package struct OutputTimestamper: Sendable {
  let leg: PlaybackLeg
  /// With `Timing.source`: when the frames start, ascending, and where the last ends.
  let borrowed: [TimeSpan]?
  /// How many frames the leg has.
  let count: Int
  private var given = 0

  /// - Parameter timeline: of the whole video.
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

  /// When the next frame, which is shown during `span` in the source, is shown in the output.
  ///
  /// The leg's last frame, in the order of the source, stays on show until the leg's span ends: so a mirror has a frame
  /// from its start.
  package mutating func next(_ span: TimeSpan) -> TimeSpan {
    defer { given += 1 }
    if let borrowed, given < borrowed.count { return borrowed[given] }
    return leg.show(span, isFirst: given == 0, isLast: given == count - 1)
  }

  /// Passes over the frames that are no longer shown at `time` of the output.
  /// - Returns: how many those are.
  mutating func skip(to time: ClockTime) -> Int {
    while let borrowed, given < borrowed.count, borrowed[given].end <= time { given += 1 }
    return given
  }
}
