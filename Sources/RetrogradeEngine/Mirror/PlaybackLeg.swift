package import MediaTime

/// One step of an order of play: a part of the source, played in one direction.
package struct PlaybackLeg: Hashable, Sendable, Codable {
  package var direction: Direction
  /// Part of the source that is played.
  package var span: TimeSpan
  /// Start time in the output.
  package var start: ClockTime
  package var speed = Speed.natural
  package var audio = Score.Audio.mirror
  /// Time for which the leg's first frame in the order of play stays on screen, without audio,
  /// before motion begins.
  package var heldBefore = ClockTime.zero
  /// Time for which the leg's last frame in the order of play stays on screen, without audio, after
  /// motion ends.
  package var heldAfter = ClockTime.zero
  /// Part of the source over which a speed ramp extends. ``span`` is shorter if the leg was
  /// shortened.
  private var whole: TimeSpan

  package init(direction: Direction, span: TimeSpan, start: ClockTime) {
    (self.direction, self.span, self.start, whole) = (direction, span, start, span)
  }

  /// Length of the part of `whole` that was cut off before ``span``, in the order of play.
  private var skipped: ClockTime { direction == .forward ? span.start - whole.start : whole.end - span.end }

  /// Returns the output duration of the first `distance` of the span, in the order of play.
  func time(toPlay distance: ClockTime) -> ClockTime {
    speed.time(toPlay: skipped + distance, of: whole.duration) - speed.time(toPlay: skipped, of: whole.duration)
  }

  /// Time span of the leg in the output, without ``heldBefore`` and ``heldAfter``.
  package var moving: TimeSpan {
    let first = start + heldBefore
    return TimeSpan(start: first, end: first + time(toPlay: span.duration))
  }

  package var end: ClockTime { moving.end + heldAfter }
  package var duration: ClockTime { end - start }

  /// True if the leg is played at the source's speed, forwards or backwards, without holds or muted
  /// audio.
  package var isNatural: Bool {
    speed == .natural && heldBefore == .zero && heldAfter == .zero && audio != .mute
  }

  /// Returns the time span in the output during which `other` is played.
  /// - Parameter other: part of ``span``.
  package func place(_ other: TimeSpan) -> TimeSpan {
    let first = start + heldBefore
    return switch direction {
    case .forward:
      TimeSpan(start: first + time(toPlay: other.start - span.start), end: first + time(toPlay: other.end - span.start))
    case .backward:
      TimeSpan(start: first + time(toPlay: span.end - other.end), end: first + time(toPlay: span.end - other.start))
    }
  }

  /// Returns the output time of a frame that is shown during `span` in the source.
  ///
  /// The latest source frame in the leg's span counts as shown until the span ends, so that a leg
  /// played backwards begins with a frame on screen.
  /// - Parameters:
  ///   - isFirst: true for the leg's first frame, in the order of play.
  ///   - isLast: true for the leg's last frame, in the order of play.
  package func show(_ span: TimeSpan, isFirst: Bool, isLast: Bool) -> TimeSpan {
    var span = span
    if direction == .backward ? isFirst : isLast { span.end = max(span.end, self.span.end) }
    var shown = place(span)
    if isFirst { shown.start = shown.start - heldBefore }
    if isLast { shown.end = shown.end + heldAfter }
    return shown
  }

  /// Returns the leg limited to the output time from `time` to `end`; nil if nothing is left.
  package func clipped(from time: ClockTime, to end: ClockTime) -> PlaybackLeg? {
    let (from, to) = (max(time, start), min(end, self.end))
    guard from < to else { return nil }
    var leg = self
    let moving = moving
    leg.heldBefore = max(.zero, min(moving.start, to) - from)
    leg.heldAfter = max(.zero, to - max(moving.end, from))
    let shown = TimeSpan(
      start: min(max(from, moving.start), moving.end), end: max(min(to, moving.end), moving.start))
    let cut = (
      head: shown.start > moving.start ? distance(after: shown.start - moving.start) : .zero,
      tail: shown.end < moving.end ? span.duration - distance(after: shown.end - moving.start) : .zero
    )
    leg.cut(head: cut.head, tail: cut.tail)
    leg.start =
      speed == .natural || shown.start <= moving.start ? from : start + heldBefore + self.time(toPlay: cut.head)
    guard shown.start >= shown.end || leg.span.start >= leg.span.end else { return leg }
    // Only a hold is left, so play one instant at which the held frame is on screen.
    (leg.span, leg.start) = (instant(isFirst: to <= moving.start), from)
    (leg.heldBefore, leg.heldAfter) = (.zero, .zero)
    leg.heldAfter = to - leg.moving.end
    return leg
  }

  /// Returns the distance in the source that the leg plays during the first `time` of its motion.
  private func distance(after time: ClockTime) -> ClockTime {
    let before = speed.time(toPlay: skipped, of: whole.duration)
    return min(max(speed.distance(after: before + time, of: whole.duration) - skipped, .zero), span.duration)
  }

  /// Removes `head` from the beginning of the span and `tail` from its end, in the order of play.
  package mutating func cut(head: ClockTime = .zero, tail: ClockTime = .zero) {
    let (early, late) = direction == .forward ? (head, tail) : (tail, head)
    let start = min(span.start + early, span.end)
    span = TimeSpan(start: start, end: max(start, span.end - late))
  }

  /// Returns the first or last nanosecond of the span, in the order of play.
  private func instant(isFirst: Bool) -> TimeSpan {
    let one = ClockTime(nanoseconds: 1)
    return isFirst == (direction == .forward)
      ? TimeSpan(start: span.start, end: span.start + one) : TimeSpan(start: span.end - one, end: span.end)
  }
}

extension PlaybackLeg {
  /// Source position at which the leg begins.
  private var first: ClockTime { direction == .forward ? span.start : span.end }
  /// Source position at which the leg ends.
  private var last: ClockTime { direction == .forward ? span.end : span.start }

  /// True if `next` begins at the source position where this leg ends, and plays in the opposite
  /// direction.
  func turns(into next: PlaybackLeg) -> Bool { direction != next.direction && last == next.first }

  /// True if `next` begins at the source position where this leg ends, and plays in the same
  /// direction.
  func isContinuous(with next: PlaybackLeg) -> Bool { direction == next.direction && last == next.first }

  /// True if a frame shared by the end of this leg and the start of `next` stays on screen and is
  /// therefore output only once.
  package func leaves(onShow next: PlaybackLeg) -> Bool { direction != next.direction || isContinuous(with: next) }

  /// True if `next` does not begin where this leg ends in the source. Compares the legs before they
  /// were shortened, because the time removed at a turn belongs to a frame that is already on
  /// screen.
  func leaps(to next: PlaybackLeg) -> Bool {
    let last = direction == .forward ? whole.end : whole.start
    return last != (next.direction == .forward ? next.whole.start : next.whole.end)
  }

  /// Returns this leg and `next` as one leg; nil unless both have the same direction, audio and
  /// constant speed, are adjacent in the source, and have no hold between them.
  func joined(with next: PlaybackLeg) -> PlaybackLeg? {
    guard isContinuous(with: next), heldAfter == .zero, next.heldBefore == .zero, audio == next.audio,
      speed == next.speed,
      speed.isConstant
    else { return nil }
    let span = TimeSpan(start: min(span.start, next.span.start), end: max(span.end, next.span.end))
    var leg = PlaybackLeg(direction: direction, span: span, start: start)
    (leg.speed, leg.audio, leg.heldBefore, leg.heldAfter) = (speed, audio, heldBefore, next.heldAfter)
    return leg
  }
}
