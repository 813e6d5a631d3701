package import MediaTime

/// All legs of an order of play, in that order: rounds of the same legs.
///
/// At a turn the frame there is shown once: the leg after the turn leaves out all of the time that the frame is on show, of
/// video and audio alike, so that sync holds through every turn.
package struct PlaybackLegs: Sendable, Codable {
  /// How often the legs are played; nil for ever. Never nil where the rounds after the first play nothing.
  package let count: Int?
  /// From the earliest to the latest that may be played.
  package let presentation: Presentation
  /// How long one sound goes while another comes, where one that ends leaves a leap to the next.
  package let joint: ClockTime
  /// How long one picture goes while another comes, where one that ends leaves a leap to the next.
  package let dissolve: ClockTime
  /// Whether frames are made between those of legs that are played slowly.
  package let interpolates: Bool
  /// Whether audio keeps its pitch at another speed.
  package let keepsPitch: Bool
  /// Most frames a second of the output that are shown; nil: all. Nil where all legs are natural: the
  /// source's frames are thinned then, the same frames in both directions.
  package let frameRate: FrameRate?
  /// The legs of the first round, of those between, and of the last one.
  private let opening: [PlaybackLeg]
  private let middle: [PlaybackLeg]
  private let closing: [PlaybackLeg]

  /// - Parameters:
  ///   - round: the legs of a round, each with all that is asked for; when they start is found out here.
  ///   - timeline: of the video; nil for audio alone.
  ///   - dropsSeam: leave out the last frame of all, where it is the first one again: for files that players repeat.
  ///   - keepsForwardWhole: of the frame at a turn from back to forward leave out the one that is played backwards.
  package init(
    _ round: [PlaybackLeg], count: Int?, _ presentation: Presentation, timeline: VideoTimeline?,
    dropsSeam: Bool = false,
    keepsForwardWhole: Bool = false, joint: ClockTime = .zero, dissolve: ClockTime = .zero, interpolates: Bool = false,
    keepsPitch: Bool = false, frameRate: FrameRate? = nil
  ) {
    self.presentation = presentation
    (self.joint, self.dissolve, self.interpolates) = (joint, dissolve, interpolates)
    (self.keepsPitch, self.frameRate) = (keepsPitch, frameRate)
    let turns = Turns(
      legs: round, shown: timeline.map { $0.clipped(to: presentation.span).timeline }, dropsSeam: dropsSeam,
      keepsForwardWhole: keepsForwardWhole)
    middle = turns.round(hasPrevious: true, hasNext: true)
    // With one frame, the legs after the first are empty: an endless loop would have nothing to give, for
    // ever.
    self.count = middle.contains { $0.duration > .zero } ? count : count ?? 1
    opening = turns.round(hasPrevious: false, hasNext: self.count != 1)
    closing = self.count == 1 ? opening : turns.round(hasPrevious: true, hasNext: false)
  }

  /// The legs of a loop.
  package init(
    _ loop: Loop, count: Int?, _ presentation: Presentation, timeline: VideoTimeline?, dropsSeam: Bool = false,
    keepsForwardWhole: Bool = false
  ) {
    self.init(
      loop.directions.map { PlaybackLeg(direction: $0, span: presentation.span, start: .zero) }, count: count,
      presentation, timeline: timeline, dropsSeam: dropsSeam, keepsForwardWhole: keepsForwardWhole)
  }

  /// How often a loop that ends may be played.
  package static let counts = 1...100_000

  /// How many legs a round has.
  package var perRound: Int { opening.count }

  /// Leg `number`, counted from 0; nil after the last. Legs may be empty.
  package subscript(number: Int) -> PlaybackLeg? {
    guard number >= 0, perRound > 0 else { return nil }
    let (round, place) = number.quotientAndRemainder(dividingBy: perRound)
    if let count, round >= count { return nil }
    if round == 0 { return opening[place] }
    var leg = round + 1 == count ? closing[place] : middle[place]
    leg.start = leg.start + start(ofRound: round)
    return leg
  }

  private func start(ofRound round: Int) -> ClockTime {
    round == 0 ? .zero : length(opening) + length(middle) * (round - 1)
  }

  private func length(_ legs: [PlaybackLeg]) -> ClockTime { legs.last?.end ?? .zero }

  /// Whether all is played as fast as in the source.
  package var areNatural: Bool { opening.allSatisfy(\.isNatural) }

  /// The one speed of all; nil where it changes, or something is held.
  package var speed: Double? {
    guard let first = opening.first?.speed, first.isConstant,
      opening.allSatisfy({ $0.speed == first && $0.heldBefore == .zero && $0.heldAfter == .zero })
    else { return nil }
    return first.first
  }

  /// Seconds of the source that are played in a second of the output, on average; 1 where all is natural.
  package var meanSpeed: Double {
    let time = opening.reduce(ClockTime.zero) { $0 + $1.duration }
    return areNatural || time == .zero ? 1 : opening.reduce(ClockTime.zero) { $0 + $1.span.duration } / time
  }

  /// The length of the whole; nil if it never ends.
  package var duration: ClockTime? { count.flatMap { self[$0 * perRound - 1]?.end } ?? (count == nil ? nil : .zero) }

  /// The number of the leg that is played at `time`, or of the first one after it; nil after the end.
  package func number(at time: ClockTime) -> Int? {
    var number = 0
    if count != 1, time >= length(opening), length(middle) > .zero {
      // Rounds are alike: step over those that are past.
      let past = (time - length(opening)).nanoseconds / length(middle).nanoseconds
      let last = (count ?? Int.max / max(perRound, 1) / 4) - 1
      number = perRound * min(1 + Int(past), last)
    }
    while let leg = self[number] {
      if leg.end > time { return number }
      // Past the last time that there is.
      if leg.end.nanoseconds == .max { return nil }
      number += 1
    }
    return nil
  }

  /// The legs that play anything, in order. Not for loops without end.
  package var all: [PlaybackLeg] {
    (0..<(count ?? 1) * perRound).compactMap { self[$0] }.filter { $0.span.start < $0.span.end }
  }
}

/// Times that the legs of a round leave out at turns.
private struct Turns {
  let legs: [PlaybackLeg]
  /// The frames that may be shown; nil without video.
  let shown: VideoTimeline?
  let dropsSeam: Bool
  let keepsForwardWhole: Bool

  func round(hasPrevious: Bool, hasNext: Bool) -> [PlaybackLeg] {
    var start = ClockTime.zero
    return legs.indices.map { number in
      var leg = legs[number]
      let previous = number > 0 ? legs[number - 1] : hasPrevious ? legs.last : nil
      let next = number + 1 < legs.count ? legs[number + 1] : hasNext ? legs.first : nil
      let isSeam = next == nil && dropsSeam
      if let previous, previous.turns(into: leg), !(keepsForwardWhole && leg.direction == .forward) {
        leg.cut(head: onShow(after: previous))
      }
      if let next = next ?? (isSeam ? legs.first : nil), leg.turns(into: next),
        isSeam || keepsForwardWhole && leg.direction == .backward
      {
        leg.cut(tail: onShow(after: legs[number]))
      }
      leg.start = start
      start = leg.end
      return leg
    }
  }

  /// For how long, in the source's time, the frame is on show on which `leg` ends.
  private func onShow(after leg: PlaybackLeg) -> ClockTime {
    guard let shown, shown.count > 0 else { return .zero }
    switch leg.direction {
    case .forward:
      let frame = shown.starts.endOfPrefix { $0 < leg.span.end } - 1
      return frame < 0 ? .zero : leg.span.end - shown.starts[frame]
    case .backward:
      // Before the first frame there is none on show: the audio there belongs to it.
      let frame = max(shown.starts.endOfPrefix { $0 <= leg.span.start } - 1, 0)
      return max(.zero, shown.span(of: frame).end - leg.span.start)
    }
  }
}
