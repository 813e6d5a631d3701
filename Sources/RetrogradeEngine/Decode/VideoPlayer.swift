package import GStreamer
package import MediaTime

/// Gives out a video's frames in the order of play, leg by leg, each with its time in the output.
package final class VideoPlayer {
  package struct Frame {
    /// Stamped with when it is shown.
    package var buffer: Buffer
    package var shown: TimeSpan
    package var caps: Caps
    /// When it is shown in the source, and in which direction that is played.
    package var source: TimeSpan
    package var direction: Direction
  }

  private let video: VideoSource
  private let legs: PlaybackLegs
  private let timing: Timing
  private let cancellation: Cancellation
  private let from: ClockTime
  private let end: ClockTime?
  /// Frames come in descending order of their times in the output, as players ask for with a rate below 0.
  private let isDescending: Bool
  /// The leg to be opened next.
  private var number: Int?
  private var open: (leg: PlaybackLeg, reader: VideoReader, clock: OutputTimestamper)?
  private var previous: (number: Int, direction: Direction)?
  private var found: [Warning] = []
  /// What was found out on the way.
  package var warnings: [Warning] { found + video.changes.warnings }

  /// - Parameters:
  ///   - from: where in the output to begin.
  ///   - end: where in the output to end; nil: where the legs do.
  package init(
    _ video: VideoSource, _ legs: PlaybackLegs, from: ClockTime = .zero, to end: ClockTime? = nil, timing: Timing,
    isDescending: Bool = false, _ cancellation: Cancellation
  ) {
    self.isDescending = isDescending
    self.video = video
    self.legs = legs
    self.from = from
    self.end = end
    self.timing = timing
    self.cancellation = cancellation
    number = isDescending ? legs.last(before: end) : legs.number(at: from)
  }

  deinit { _ = try? open?.reader.close() }

  /// The next frame; nil after the last.
  /// - Parameter offset: added to the buffer's timestamp.
  package func next(offset: ClockTime = .zero) throws -> Frame? {
    while true {
      guard var current = try open ?? openNext() else { return nil }
      guard var frame = try current.reader.next() else {
        found += try current.reader.close()
        open = nil
        continue
      }
      if video.shown.isThinned {
        guard let span = video.shown.span(ofFrame: frame.number, during: current.leg.span) else { continue }
        frame.span = span
      }
      if isDescending {
        return descending(frame, current.leg, isLast: frame.number == current.reader.frames.last, offset)
      }
      let shown = current.clock.next(frame.span)
      open = current
      if let end, shown.start >= end {
        number = nil
        found += try current.reader.close()
        open = nil
        return nil
      }
      let direction = current.leg.direction
      // At a turn the frame that is on show stays.
      let isOnShow = previous.map { $0.number == frame.number && $0.direction != direction } ?? false
      previous = (frame.number, direction)
      if isOnShow { continue }
      let isMirrored = direction == .backward
      let start = shown.start + offset
      // A packet is decoded when it is shown.
      Buffer.retime(
        &frame.buffer, pts: start, dts: video.arePackets ? start : nil, duration: shown.duration,
        isMirrored: isMirrored && !video.arePackets)
      return Frame(
        buffer: frame.buffer, shown: shown, caps: isMirrored ? video.caps.mirroredFields : video.caps,
        source: frame.span,
        direction: direction)
    }
  }

  private func descending(_ frame: SourceFrame, _ leg: PlaybackLeg, isLast: Bool, _ offset: ClockTime) -> Frame {
    var frame = frame
    var span = frame.span
    if isLast { span.end = max(span.end, leg.span.end) }
    let shown = leg.place(span)
    let isMirrored = leg.direction == .forward
    Buffer.retime(&frame.buffer, pts: shown.start + offset, duration: shown.duration, isMirrored: isMirrored)
    return Frame(
      buffer: frame.buffer, shown: shown, caps: isMirrored ? video.caps.mirroredFields : video.caps, source: span,
      direction: leg.direction)
  }

  private func openNext() throws -> (leg: PlaybackLeg, reader: VideoReader, clock: OutputTimestamper)? {
    // All rounds after the first are alike: where two show no frame, none will, and there may be no last one.
    var empty = 0
    while let number, let whole = legs[number], legs.count != nil || empty < 2 * legs.loop.directions.count {
      if let end, whole.start >= end, !isDescending { return nil }
      self.number = isDescending ? number - 1 : number + 1
      empty += 1
      var clock = OutputTimestamper(whole, timeline: video.shown.timeline, timing: timing)
      let leg: PlaybackLeg?
      let span: TimeSpan?
      if clock.borrowed != nil, !isDescending {
        // Frames with other frames' times: those that are shown from `from` on are still the last ones of the source.
        let skipped = clock.skip(to: from)
        span = video.shown.timeline.clipped(to: whole.span).timeline.span(leaving: skipped, in: whole.span)
        leg = whole
      } else {
        leg = whole.clipped(from: from, to: end ?? whole.end)
        span = leg?.span
        if let leg { clock = OutputTimestamper(leg, timeline: video.shown.timeline, timing: timing) }
      }
      guard let leg, let span else { continue }
      let reader = try VideoReader(
        video, over: span, isDescending ? leg.direction.opposite : leg.direction, cancellation)
      guard !reader.frames.isEmpty else { continue }
      let opened = (leg, reader, clock)
      open = opened
      return opened
    }
    return nil
  }
}

extension VideoTimeline {
  /// `whole`, without the last `count` frames; nil if none is left.
  fileprivate func span(leaving count: Int, in whole: TimeSpan) -> TimeSpan? {
    if count == 0 { return whole }
    guard count < starts.count else { return nil }
    return TimeSpan(start: whole.start, end: starts[starts.count - count])
  }
}

/// Gives out an audio stream in the order of play, leg by leg.
package struct AudioPlayer {
  private let track: AudioTrack
  private let legs: PlaybackLegs
  private let from: ClockTime
  private let end: ClockTime?
  /// Whether audio that starts late is preceded by silence, rather than by nothing.
  private let isPadded: Bool
  /// Parts come in descending order of their times; the samples of each in ascending order, as GStreamer has it.
  private let isDescending: Bool
  private let partSize: Int
  private var number: Int?
  private var reader: AudioReader?
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
  package mutating func next() throws -> AudioReader.Part? {
    while true {
      if let part = try isDescending ? reader?.nextFromEnd() : reader?.next() { return part }
      guard let next = nextReader() else { return nil }
      reader = next
    }
  }

  /// How many sample frames are to come from where the next leg begins; nil where they never end.
  package var sampleCount: Int? {
    guard legs.count != nil else { return nil }
    var player = self
    var count = 0
    while let next = player.nextReader() { count += next.count }
    return count
  }

  private mutating func nextReader() -> AudioReader? {
    while let number, let whole = legs[number] {
      self.number = isDescending ? number - 1 : number + 1
      guard let leg = whole.clipped(from: from, to: end ?? whole.end) else {
        if let end, whole.start >= end, !isDescending { return nil }
        continue
      }
      // Between legs audio goes on: what is missing there is silence.
      let reader = AudioReader(
        track, leg, isPadded: hasBegun || isPadded, isPaddedAtEnd: legs[number + 1].map { $0.start < $0.end } ?? false,
        partSize: partSize)
      hasBegun = hasBegun || reader.count > 0
      return reader
    }
    return nil
  }
}

extension PlaybackLegs {
  /// The number of the leg that is played last before `time`; of the last one of all where that is nil or later.
  fileprivate func last(before time: ClockTime?) -> Int? {
    guard let duration else { return nil }
    let end = min(time ?? duration, duration)
    return number(at: end - ClockTime(nanoseconds: 1))
  }
}
