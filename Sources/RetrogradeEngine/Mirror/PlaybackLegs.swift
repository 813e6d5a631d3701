package import MediaTime

/// All legs of an order of play. A leg is a part of the source that is played in one direction. A
/// round plays each leg once, and rounds are repeated.
///
/// The frame at a turn is shown once. The leg after the turn skips the time of this frame, in video
/// and audio alike, so that both stay in sync.
package struct PlaybackLegs: Sendable, Codable {
  /// Number of rounds; nil for an endless loop. An endless loop becomes one round if the rounds
  /// after the first would play nothing.
  package let count: Int?
  /// Source time from the earliest to the latest frame or sample that may be played.
  package let presentation: Presentation
  /// Length of the audio crossfade at cuts.
  package let joint: ClockTime
  /// Length of the cross-dissolve at cuts.
  package let dissolve: ClockTime
  /// True if frames are interpolated in slow legs.
  package let interpolates: Bool
  /// True if audio keeps its pitch at another speed.
  package let keepsPitch: Bool
  /// Highest frame rate of the output; nil if unlimited. Always nil if all legs play at the
  /// source's speed. The source's frames are then thinned instead, so that the same frames are kept
  /// in both directions.
  package let frameRate: FrameRate?
  /// Legs of the first round.
  private let opening: [PlaybackLeg]
  /// Legs of each round except the first and the last round.
  private let middle: [PlaybackLeg]
  /// Legs of the last round.
  private let closing: [PlaybackLeg]

  /// - Parameters:
  ///   - round: legs of a round, complete except for their start times, which are computed here.
  ///   - timeline: timeline of the video; nil for audio alone.
  ///   - dropsSeam: true to drop the last frame of the output if it repeats the first frame, for
  ///     files that players loop.
  ///   - keepsForwardWhole: true if the backward leg, not the forward leg, drops the repeated frame
  ///     at a turn from backward to forward.
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
    // If only one frame is shown, the legs after the first are empty, so an endless loop would
    // never output another frame.
    self.count = middle.contains { $0.duration > .zero } ? count : count ?? 1
    opening = turns.round(hasPrevious: false, hasNext: self.count != 1)
    closing = self.count == 1 ? opening : turns.round(hasPrevious: true, hasNext: false)
  }

  /// Creates the legs of a loop.
  package init(
    _ loop: Loop, count: Int?, _ presentation: Presentation, timeline: VideoTimeline?, dropsSeam: Bool = false,
    keepsForwardWhole: Bool = false
  ) {
    self.init(
      loop.directions.map { PlaybackLeg(direction: $0, span: presentation.span, start: .zero) }, count: count,
      presentation, timeline: timeline, dropsSeam: dropsSeam, keepsForwardWhole: keepsForwardWhole)
  }

  /// Valid numbers of rounds, unless the loop is endless.
  package static let counts = 1...100_000

  /// Number of legs in a round.
  package var perRound: Int { opening.count }

  /// Leg `number`, counted from 0; nil after the last. A leg may be empty.
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

  /// True if all legs play at the source's speed, without holds or muted audio.
  package var areNatural: Bool { opening.allSatisfy(\.isNatural) }

  /// Speed of all legs; nil if the speed changes, or if there are holds.
  package var speed: Double? {
    guard let first = opening.first?.speed, first.isConstant,
      opening.allSatisfy({ $0.speed == first && $0.heldBefore == .zero && $0.heldAfter == .zero })
    else { return nil }
    return first.first
  }

  /// Seconds of the source per second of the output, on average; 1 if all legs are natural.
  package var meanSpeed: Double {
    let time = opening.reduce(ClockTime.zero) { $0 + $1.duration }
    return areNatural || time == .zero ? 1 : opening.reduce(ClockTime.zero) { $0 + $1.span.duration } / time
  }

  /// Total length; nil for an endless loop.
  package var duration: ClockTime? { count.flatMap { self[$0 * perRound - 1]?.end } ?? (count == nil ? nil : .zero) }

  /// Returns the number of the leg played at `time`, or of the first leg after `time`; nil after
  /// the end.
  package func number(at time: ClockTime) -> Int? {
    var number = 0
    if count != 1, time >= length(opening), length(middle) > .zero {
      // The middle rounds are alike, so skip the rounds that are past.
      let past = (time - length(opening)).nanoseconds / length(middle).nanoseconds
      let last = (count ?? Int.max / max(perRound, 1) / 4) - 1
      number = perRound * min(1 + Int(past), last)
    }
    while let leg = self[number] {
      if leg.end > time { return number }
      // The leg ends at the largest possible time, so no later leg is played.
      if leg.end.nanoseconds == .max { return nil }
      number += 1
    }
    return nil
  }

  /// Legs that are not empty, in order. Not meant for endless loops.
  package var all: [PlaybackLeg] {
    (0..<(count ?? 1) * perRound).compactMap { self[$0] }.filter { $0.span.start < $0.span.end }
  }
}

/// Shortens the legs of a round at turns (changes of direction), so that the frame at a turn is
/// shown once.
private struct Turns {
  let legs: [PlaybackLeg]
  /// Timeline of the frames that may be shown; nil without video.
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
        leg.cut(head: displayTime(after: previous))
      }
      if let next = next ?? (isSeam ? legs.first : nil), leg.turns(into: next),
        isSeam || keepsForwardWhole && leg.direction == .backward
      {
        leg.cut(tail: displayTime(after: legs[number]))
      }
      leg.start = start
      start = leg.end
      return leg
    }
  }

  /// Returns how long `leg` shows its last frame in the order of play, in source time.
  private func displayTime(after leg: PlaybackLeg) -> ClockTime {
    guard let shown, shown.count > 0 else { return .zero }
    switch leg.direction {
    case .forward:
      let frame = shown.starts.endOfPrefix { $0 < leg.span.end } - 1
      return frame < 0 ? .zero : leg.span.end - shown.starts[frame]
    case .backward:
      // No frame is on screen before the first frame, so earlier audio belongs to the first frame.
      let frame = max(shown.starts.endOfPrefix { $0 <= leg.span.start } - 1, 0)
      return max(.zero, shown.span(of: frame).end - leg.span.start)
    }
  }
}
