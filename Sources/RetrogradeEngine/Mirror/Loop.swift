package import MediaTime

/// The order of play.
public enum Loop: String, Sendable, CaseIterable, Codable {
  case reverse
  /// Forwards, then back.
  case pingPong = "ping-pong"
  /// Back, then forwards.
  case reverseForward = "reverse-forward"
  case forward

  var directions: [Direction] {
    switch self {
    case .reverse: [.backward]
    case .pingPong: [.forward, .backward]
    case .reverseForward: [.backward, .forward]
    case .forward: [.forward]
    }
  }
}

/// The direction in which a stretch of the source is played.
public enum Direction: String, Sendable, Codable {
  case forward, backward

  var opposite: Direction { self == .forward ? .backward : .forward }
}

/// A stretch of the source that is played in one direction: what a loop is made of.
package struct PlaybackLeg: Hashable, Sendable {
  package var direction: Direction
  /// What of the source is played.
  package var span: TimeSpan
  /// When it starts in the output.
  package var start: ClockTime

  package var end: ClockTime { start + span.duration }

  /// Where `other`, a stretch of the source inside the span, comes to lie in the output.
  package func place(_ other: TimeSpan) -> TimeSpan {
    switch direction {
    case .forward: TimeSpan(start: start + (other.start - span.start), end: start + (other.end - span.start))
    case .backward: TimeSpan(start: start + (span.end - other.end), end: start + (span.end - other.start))
    }
  }

  /// What is left of the leg from `time` of the output on, before `end`; nil if that is nothing.
  package func clipped(from time: ClockTime, to end: ClockTime) -> PlaybackLeg? {
    let from = max(time, start)
    let to = min(end, self.end)
    guard from < to else { return nil }
    let cut = (head: from - start, tail: self.end - to)
    let span =
      direction == .forward
      ? TimeSpan(start: self.span.start + cut.head, end: self.span.end - cut.tail)
      : TimeSpan(start: self.span.start + cut.tail, end: self.span.end - cut.head)
    return PlaybackLeg(direction: direction, span: span, start: from)
  }
}

/// All legs of a loop, in the order of play.
///
/// At a turn the frame there is shown once: the leg after the turn leaves out all of the time that the frame is on show, of
/// video and audio alike, so that sync holds through every turn.
package struct PlaybackLegs: Sendable, Codable {
  package let loop: Loop
  /// How often the loop is played; nil for ever. Never nil where the rounds after the first play nothing.
  package let count: Int?
  package let presentation: Presentation
  /// How long the first and the last frame are on show, in which the direction changes; 0 without video.
  private let first: ClockTime
  private let last: ClockTime
  private let dropsSeam: Bool
  private let keepsForwardWhole: Bool

  /// - Parameters:
  ///   - timeline: of the video; nil for audio alone.
  ///   - dropsSeam: leave out the last frame of all, where it is the first one again: for files that players repeat.
  ///   - keepsForwardWhole: of the frame at a turn from back to forward leave out the one that is played backwards.
  package init(
    _ loop: Loop, count: Int?, _ presentation: Presentation, timeline: VideoTimeline?, dropsSeam: Bool = false,
    keepsForwardWhole: Bool = false
  ) {
    self.keepsForwardWhole = keepsForwardWhole
    self.loop = loop
    self.presentation = presentation
    self.dropsSeam = dropsSeam
    let shown = timeline.map { $0.clipped(to: presentation.span).timeline }
    let length = presentation.duration
    // From the start of what is played, and to its end: a frame stays on show where audio goes on without another.
    first = shown.map { $0.count > 0 ? min($0.span(of: 0).end - presentation.span.start, length) : .zero } ?? .zero
    last =
      shown.map { $0.count > 0 ? min(presentation.span.end - $0.span(of: $0.count - 1).start, length) : .zero } ?? .zero
    // Of one frame, the legs after the first are empty: without end there would be nothing to give, for ever.
    let goesOn = loop.directions.count == 1 ? length > .zero : keepsForwardWhole || min(first, last) < length
    self.count = goesOn ? count : count ?? 1
  }

  /// How often a loop that ends may be played.
  package static let counts = 1...100_000

  private var perRound: Int { loop.directions.count }

  /// PlaybackLeg `number`, counted from 0; nil after the last. PlaybackLegs may be empty.
  package subscript(number: Int) -> PlaybackLeg? {
    guard number >= 0, count.map({ number < $0 * perRound }) ?? true else { return nil }
    return PlaybackLeg(direction: loop.directions[number % perRound], span: span(number), start: start(number))
  }

  private func span(_ number: Int) -> TimeSpan {
    var span = presentation.span
    guard perRound > 1 else { return span }
    let direction = loop.directions[number % perRound]
    if number > 0 {
      if direction == .backward {
        span.end = span.end - last
      } else if !keepsForwardWhole {
        span.start = span.start + first
      }
    }
    let isLast = count.map { number == $0 * perRound - 1 } ?? false
    if keepsForwardWhole, direction == .backward, !isLast { span.start = span.start + first }
    if dropsSeam, isLast {
      if direction == .forward { span.end = span.end - last } else { span.start = span.start + first }
    }
    return TimeSpan(start: span.start, end: max(span.start, span.end))
  }

  private func start(_ number: Int) -> ClockTime {
    guard number > 0 else { return .zero }
    // All rounds after the first are equally long; only the last leg of all may differ, and nothing starts after it.
    let opening = (0..<min(number, perRound)).reduce(ClockTime.zero) { $0 + span($1).duration }
    guard number > perRound else { return opening }
    let round = (perRound..<2 * perRound).map { span($0).duration }
    let whole = (number - perRound) / perRound
    let length = round.reduce(ClockTime.zero, +)
    let rest = round.prefix((number - perRound) % perRound).reduce(ClockTime.zero, +)
    return opening + length * whole + rest
  }

  /// The length of the whole; nil if it never ends.
  package var duration: ClockTime? { count.flatMap { self[$0 * perRound - 1]?.end } ?? (count == nil ? nil : .zero) }

  /// The number of the leg that is played at `time`, or of the first one after it; nil after the end.
  package func number(at time: ClockTime) -> Int? {
    var number = 0
    if count == nil || perRound * (count ?? 0) > 2 * perRound, let second = self[perRound],
      let third = self[2 * perRound],
      third.start > second.start, time >= second.start
    {
      // Rounds are alike: step over those that are past.
      let past = (time - second.start).nanoseconds / (third.start - second.start).nanoseconds
      number = perRound + perRound * min(Int(past), Int.max / 4)
    }
    while let leg = self[number] {
      if leg.end > time { return number }
      // Past the last time that there is.
      if leg.end.nanoseconds == .max { return nil }
      number += 1
    }
    return nil
  }
}

extension PlaybackLegs {
  /// The legs that play anything, in order. Not for loops without end.
  package var all: [PlaybackLeg] {
    (0..<(count ?? 1) * loop.directions.count).compactMap { self[$0] }.filter { $0.span.start < $0.span.end }
  }
}
