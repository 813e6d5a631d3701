package import GStreamer
package import MediaTime

/// Outputs the frames of a video leg by leg, each with its output time. A leg is one step of the
/// order of play: a part of the source, played in one direction.
package final class VideoPlayer {
  package struct Frame {
    /// Buffer, with the output time as its timestamp.
    package var buffer: Buffer
    package var shown: TimeSpan
    package var caps: Caps
    /// Display time in the source (`source`), and direction of play.
    package var source: TimeSpan
    package var direction: Direction
    /// Number of the frame in the source; nil if the frame is a mix of several frames.
    package var number: Int?
    /// Number of the leg (`leg`), and display time in the output without holds (`moving`).
    var leg: Int
    var moving: TimeSpan
  }

  private let video: VideoSource
  private let legs: PlaybackLegs
  private let timing: Timing
  private let cancellation: Cancellation
  private let from: ClockTime
  private let end: ClockTime?
  /// True if frames are output in descending order of their times, as players require at a negative
  /// rate.
  private let isDescending: Bool
  /// Number of the next leg to open.
  private var number: Int?
  private typealias OpenLeg = (number: Int, leg: PlaybackLeg, reader: VideoReader, clock: OutputTimestamper)
  private var open: OpenLeg?
  private var previous: (number: Int, leg: PlaybackLeg)?
  private var thinning: Thinning?
  private var dissolve: Dissolve?
  private var interpolation: Interpolation?
  private var found: [Warning] = []
  /// Warnings so far.
  package var warnings: [Warning] { found + video.changes.warnings }

  /// - Parameters:
  ///   - from: output time at which to begin.
  ///   - end: output time at which to end; nil for the end of the legs.
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
    thinning = legs.frameRate.map { Thinning($0, from: from) }
    interpolation = legs.interpolates && !isDescending ? Interpolation(limit: legs.frameRate) : nil
    number = isDescending ? legs.last(before: end) : legs.number(at: from)
  }

  deinit { _ = try? open?.reader.close() }

  /// Returns the next frame; nil after the last one.
  /// - Parameter offset: time to add to the buffer's timestamp.
  package func next(offset: ClockTime = .zero) throws -> Frame? {
    guard var making = interpolation else { return try nextPlayed(offset) }
    defer { interpolation = making }
    return try making.next(offset) { try nextPlayed(offset) }
  }

  /// Returns the next frame before interpolation.
  private func nextPlayed(_ offset: ClockTime) throws -> Frame? {
    while true {
      guard var current = try open ?? openNext() else { return nil }
      guard var frame = try current.reader.next() else {
        try close(current.reader)
        continue
      }
      if video.shown.isThinned {
        guard let span = video.shown.span(ofFrame: frame.number, during: current.leg.span) else { continue }
        frame.span = span
      }
      if isDescending {
        return descending(frame, current, offset)
      }
      var shown = current.clock.next(frame.span)
      open = current
      if let end, shown.start >= end {
        number = nil
        try close(current.reader)
        return nil
      }
      let isOnShow = previous.map { $0.number == frame.number && $0.leg.leaves(onShow: current.leg) } ?? false
      previous = (frame.number, current.leg)
      if isOnShow { continue }
      if thinning != nil {
        guard let place = thinning?.place(shown) else { continue }
        shown = place
      }
      let mixed = try dissolve?.mix(into: frame.buffer, shown, video.caps)
      if let mixed { frame.buffer = mixed }
      let direction = current.leg.direction
      let isMirrored = direction == .backward
      let start = shown.start + offset
      // Packets are independent frames, so decoding time equals display time.
      Buffer.retime(
        &frame.buffer, pts: start, dts: video.arePackets ? start : nil, duration: shown.duration,
        isMirrored: isMirrored && !video.arePackets)
      return Frame(
        buffer: frame.buffer, shown: shown, caps: isMirrored ? video.caps.mirroredFields : video.caps,
        source: frame.span, direction: direction, number: mixed == nil ? frame.number : nil, leg: current.number,
        moving: shown.clamped(to: current.leg.moving))
    }
  }

  private func close(_ reader: VideoReader) throws {
    found += try reader.close() + (dissolve?.warnings ?? [])
    (open, dissolve) = (nil, nil)
  }

  private func descending(_ frame: SourceFrame, _ open: OpenLeg, _ offset: ClockTime) -> Frame {
    var frame = frame
    let (leg, frames) = (open.leg, open.reader.frames)
    let isAtStart = frame.number == frames.first
    let isAtEnd = frame.number == frames.last
    let shown =
      leg.direction == .forward
      ? leg.show(frame.span, isFirst: isAtStart, isLast: isAtEnd)
      : leg.show(frame.span, isFirst: isAtEnd, isLast: isAtStart)
    let isMirrored = leg.direction == .forward
    Buffer.retime(&frame.buffer, pts: shown.start + offset, duration: shown.duration, isMirrored: isMirrored)
    return Frame(
      buffer: frame.buffer, shown: shown, caps: isMirrored ? video.caps.mirroredFields : video.caps,
      source: frame.span, direction: leg.direction, number: frame.number, leg: open.number,
      moving: shown.clamped(to: leg.moving))
  }

  private func openNext() throws -> OpenLeg? {
    // All rounds of a loop after the first are alike. Stop after two rounds without a frame,
    // because the loop may be endless.
    var empty = 0
    while let number, let whole = legs[number], legs.count != nil || empty < 2 * legs.perRound {
      if let end, whole.start >= end, !isDescending { return nil }
      self.number = isDescending ? number - 1 : number + 1
      empty += 1
      var clock = OutputTimestamper(whole, timeline: video.shown.timeline, timing: timing)
      let leg: PlaybackLeg?
      let span: TimeSpan?
      if clock.borrowed != nil, !isDescending {
        // Each frame has the display time of another frame, so the leg can't be clipped by time.
        // Instead, if the first `skipped` display times are not played, leave out the last
        // `skipped` frames of the leg's part of the source.
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
        video, over: span, isDescending ? leg.direction.opposite : leg.direction,
        isLast: !isDescending && legs[number + 1] == nil, cancellation)
      guard !reader.frames.isEmpty else { continue }
      let opened = (number, leg, reader, clock)
      open = opened
      if legs.dissolve > .zero, !isDescending, let ended = legs[number - 1] {
        dissolve = Dissolve(video, ended, into: whole, of: legs, from: from, cancellation)
      }
      return opened
    }
    return nil
  }
}

extension VideoTimeline {
  /// Returns `whole` without its last `count` frames; nil if no frame is left.
  fileprivate func span(leaving count: Int, in whole: TimeSpan) -> TimeSpan? {
    if count == 0 { return whole }
    guard count < starts.count else { return nil }
    return TimeSpan(start: whole.start, end: starts[starts.count - count])
  }
}

extension PlaybackLegs {
  /// Returns the number of the last leg that begins before `time`; the number of the last leg of
  /// all if `time` is nil or after the end; nil for endless loops.
  func last(before time: ClockTime?) -> Int? {
    guard let duration else { return nil }
    let end = min(time ?? duration, duration)
    return number(at: end - ClockTime(nanoseconds: 1))
  }
}
