package import GStreamer
package import MediaTime

/// Gives out an audio stream in the order of play, leg by leg.
package struct AudioPlayer {
  private let track: AudioTrack
  private let legs: PlaybackLegs
  private let from: ClockTime
  private let end: ClockTime?
  /// Whether audio that starts late is preceded by silence, rather than by nothing.
  private let isPadded: Bool
  /// Parts come in descending order of their times; the samples of each in ascending order, as GStreamer has it. Not for legs
  /// that are not natural.
  private let isDescending: Bool
  private let partSize: Int
  private var number: Int?
  private var reader: (any LegAudio)?
  private var leg: PlaybackLeg?
  /// Continuation of the leg before, to be faded out.
  private var fading: [UInt8]?
  private var hasBegun = false

  package init(
    _ track: AudioTrack, _ legs: PlaybackLegs, from: ClockTime = .zero, to end: ClockTime? = nil, isPadded: Bool,
    isDescending: Bool = false, partSize: Int = AudioReader.partSize
  ) {
    self.partSize = partSize
    self.isDescending = isDescending
    self.track = track
    self.legs = legs
    self.from = from
    self.end = end
    self.isPadded = isPadded
    number = isDescending ? legs.last(before: end) : legs.number(at: from)
  }

  /// The next part; nil after the last.
  package mutating func next() throws -> AudioPart? {
    while true {
      if var part = try isDescending ? reader?.nextFromEnd() : reader?.next() {
        if let tail = fading.take() { part.buffer = try Crossfade.mix(tail, into: part.buffer, track) }
        return part
      }
      let previous = (leg, reader)
      guard let next = nextReader() else { return nil }
      if let leg, let before = previous.0, var ended = previous.1, before.clicks(before: leg), !isDescending,
        legs.joint > .zero
      {
        fading = try ended.goOn(min(legs.joint.sampleIndex(rate: track.rate), next.count))
      }
      reader = next
    }
  }

  /// Passes over `count` sample frames without reading them, but for those that the next ones depend on. To
  /// be called before ``next()``; not for players that are descending.
  /// - Returns: how many of them are still to come.
  package mutating func skip(_ count: Int) throws -> Int {
    let joint = legs.joint.sampleIndex(rate: track.rate)
    var left = max(count, 0)
    while left > 0 {
      guard let rest = reader?.left else {
        guard let next = nextReader() else { return left }
        reader = next
        continue
      }
      if left >= rest + joint {
        // No sample of this leg is in the part to come.
        left -= rest
        guard let next = nextReader() else { return left }
        reader = next
      } else {
        let passed = min(left, max(rest - 1, 0))
        try reader?.skip(passed)
        return left - passed
      }
    }
    return 0
  }

  /// How many sample frames are to come from where the next leg begins; nil where they never end.
  package var sampleCount: Int? {
    guard legs.count != nil else { return nil }
    var player = self
    var count = 0
    while let next = player.nextReader() { count += next.count }
    return count
  }

  private mutating func nextReader() -> (any LegAudio)? {
    while let number, let whole = legs[number] {
      self.number = isDescending ? number - 1 : number + 1
      guard let leg = whole.clipped(from: from, to: end ?? whole.end) else {
        if let end, whole.start >= end, !isDescending { return nil }
        continue
      }
      // Between legs audio goes on: missing samples there are silence.
      let hasNext = legs[number + 1].map { $0.start < $0.end } ?? false
      let reader: any LegAudio =
        leg.isNatural
        ? AudioReader(
          track, whole.heard.clipped(from: from, to: end ?? whole.end) ?? leg, isPadded: hasBegun || isPadded,
          isPaddedAtEnd: hasNext, partSize: partSize)
        : PacedAudio(track, leg, of: whole, in: legs, partSize: partSize)
      hasBegun = hasBegun || reader.count > 0
      self.leg = leg
      return reader
    }
    return nil
  }
}

/// Audio, and when it is heard in the output.
package struct AudioPart {
  package var buffer: Buffer
  package var shown: TimeSpan
  /// Sample frames.
  package var count: Int
}

/// The audio of one leg.
protocol LegAudio {
  /// How many sample frames there are in all.
  var count: Int { get }
  /// How many of them are still to be given.
  var left: Int { get }
  /// Passes over the next `count`, no more than are left.
  mutating func skip(_ count: Int) throws
  /// The next part; nil after the last.
  mutating func next() throws -> AudioPart?
  /// The part before the one given last, beginning with the last of all; nil after the first. Not to be mixed with ``next()``.
  mutating func nextFromEnd() throws -> AudioPart?
  /// Returns `count` sample frames that would follow the leg's last part if the leg did not end.
  mutating func goOn(_ count: Int) throws -> [UInt8]
}

extension PlaybackLeg {
  /// The leg by which its audio is read.
  var heard: PlaybackLeg {
    var leg = self
    if audio == .forward { leg.direction = .forward }
    return leg
  }

  /// Whether between the last sample of this leg and the first of `next` there is a leap.
  func clicks(before next: PlaybackLeg) -> Bool {
    if audio == .mute && next.audio == .mute { return false }
    if heldAfter > .zero || next.heldBefore > .zero || audio == .mute || next.audio == .mute { return true }
    // If one leg begins where the other ends, the wave goes on, or back.
    return !(heard.turns(into: next.heard) || heard.goesOn(with: next.heard))
  }
}
