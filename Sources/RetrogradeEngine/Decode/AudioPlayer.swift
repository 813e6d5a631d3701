package import GStreamer
package import MediaTime

/// Outputs an audio stream leg by leg. A leg is one step of the order of play: a part of the
/// source, played in one direction.
package struct AudioPlayer {
  private let track: AudioTrack
  private let legs: PlaybackLegs
  private let from: ClockTime
  private let end: ClockTime?
  /// True to begin the output with silence if the first leg begins before its audio.
  private let isPadded: Bool
  /// True if buffers are output in descending order of their times. Samples within a buffer ascend,
  /// as in GStreamer's reverse playback. Supported only if all legs are natural
  /// (``PlaybackLeg/isNatural``).
  private let isDescending: Bool
  private let partSize: Int
  private var number: Int?
  private var reader: (any LegAudio)?
  private var leg: PlaybackLeg?
  /// Sample frames that continue the previous leg beyond its end, to be faded out at the start of
  /// the current leg; nil if no crossfade is due.
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

  /// Returns the next buffer; nil after the last one.
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
        fading = try ended.read(min(legs.joint.sampleIndex(rate: track.rate), next.count))
      }
      reader = next
    }
  }

  /// Skips up to `count` sample frames, without reading them if possible. Skips fewer if the target
  /// is in the crossfade after a leg. Call this before ``next()``, and only if the player is not
  /// descending.
  /// - Returns: number of sample frames that the caller must still read and drop.
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
        // The skip continues in the next leg, beyond this leg and its crossfade.
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

  /// Number of sample frames from the start of the next leg to the end of the output; nil for
  /// endless loops.
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
      // If a leg follows, missing audio at the end of this leg becomes silence.
      let hasNext = legs[number + 1].map { $0.start < $0.end } ?? false
      let reader: any LegAudio =
        leg.isNatural
        ? AudioReader(
          track, whole.playedLeg.clipped(from: from, to: end ?? whole.end) ?? leg, isPadded: hasBegun || isPadded,
          isPaddedAtEnd: hasNext, partSize: partSize)
        : PacedAudio(track, leg, of: whole, in: legs, partSize: partSize)
      hasBegun = hasBegun || reader.count > 0
      self.leg = leg
      return reader
    }
    return nil
  }
}

/// Buffer of audio, and its time in the output.
package struct AudioPart {
  package var buffer: Buffer
  package var shown: TimeSpan
  /// Number of sample frames.
  package var count: Int
}

/// Reader of the audio of one leg (one step of the order of play).
protocol LegAudio {
  /// Total number of sample frames.
  var count: Int { get }
  /// Number of sample frames not yet output.
  var left: Int { get }
  /// Skips the next `count` sample frames, at most ``left``.
  mutating func skip(_ count: Int) throws
  /// Returns the next buffer; nil after the last one.
  mutating func next() throws -> AudioPart?
  /// Returns the buffers from the end of the leg to its start, one per call; nil after the leg's
  /// first buffer. Use either this method or ``next()``, not both.
  mutating func nextFromEnd() throws -> AudioPart?
  /// Returns the `count` sample frames that would follow the leg's last sample frame if the leg did
  /// not end.
  mutating func read(_ count: Int) throws -> [UInt8]
}

extension PlaybackLeg {
  /// Copy of the leg with the direction of its audio, which may be forward in a backward leg.
  var playedLeg: PlaybackLeg {
    var leg = self
    if audio == .forward { leg.direction = .forward }
    return leg
  }

  /// True if the waveform jumps between this leg and `next`.
  func clicks(before next: PlaybackLeg) -> Bool {
    if audio == .mute && next.audio == .mute { return false }
    if heldAfter > .zero || next.heldBefore > .zero || audio == .mute || next.audio == .mute { return true }
    // If one leg begins at the source position where the other ends, the waveform is continuous.
    return !(playedLeg.turns(into: next.playedLeg) || playedLeg.isContinuous(with: next.playedLeg))
  }
}
