import MediaTime

/// Gives the frames of the mirror their times, in the order in which they are written: last frame of the source first.
struct MirrorClock: Sendable {
  let presentation: Presentation
  /// With `Timing.source`: when the frames start, ascending, and where the last ends.
  let borrowed: [TimeSpan]?
  private var given = 0

  init(_ presentation: Presentation, timeline: VideoTimeline, timing: Timing) {
    self.presentation = presentation
    borrowed = timing == .source ? timeline.mirrored(in: presentation, timing: .source) : nil
  }

  /// When the next frame is shown in the mirror, that is shown during `span` in the source.
  ///
  /// The source's last frame stays on show until the presentation ends, so that the mirror has a picture from its start.
  mutating func next(_ span: TimeSpan) -> TimeSpan {
    defer { given += 1 }
    var span = span
    if given == 0 { span.end = max(span.end, presentation.span.end) }
    guard let borrowed, given < borrowed.count else { return presentation.mirrored(span) }
    return borrowed[given]
  }
}
