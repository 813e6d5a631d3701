package import GStreamer
package import MediaTime

/// Outputs a video's frames in the order of play, leg by leg, each with its output time.
package final class VideoPlayer {
  package struct Frame {
    /// Buffer with its output timestamp.
    package var buffer: Buffer
    package var shown: TimeSpan
    package var caps: Caps
    /// Display time in the source, and direction of play.
    package var source: TimeSpan
    package var direction: Direction
    /// Number of the frame in the source; nil if its pixels are a mix of frames.
    package var number: Int?
    /// Number of the leg, and the display time without holds.
    var leg: Int
    var moving: TimeSpan
  }

  private let video: VideoSource
  private let legs: PlaybackLegs
  private let timing: Timing
  private let cancellation: Cancellation
  private let from: ClockTime
  private let end: ClockTime?
  /// True if frames come in descending order of output time, as players require at a negative rate.
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
  /// Warnings found on the way.
  package var warnings: [Warning] { found + video.changes.warnings }

  /// - Parameters:
  ///   - from: output time to begin at.
  ///   - end: output time to end at; nil for the end of the legs.
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

  /// The next frame; nil after the last.
  /// - Parameter offset: added to the buffer's timestamp.
  package func next(offset: ClockTime = .zero) throws -> Frame? {
    guard var making = interpolation else { return try nextPlayed(offset) }
    defer { interpolation = making }
    return try making.next(offset) { try nextPlayed(offset) }
  }

  /// The next frame from the source, before interpolation.
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
      // A packet's decoding time is its display time.
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
    // Rounds after the first are alike: if two of them show no frame, none will, and the loop may
    // be endless.
    var empty = 0
    while let number, let whole = legs[number], legs.count != nil || empty < 2 * legs.perRound {
      if let end, whole.start >= end, !isDescending { return nil }
      self.number = isDescending ? number - 1 : number + 1
      empty += 1
      var clock = OutputTimestamper(whole, timeline: video.shown.timeline, timing: timing)
      let leg: PlaybackLeg?
      let span: TimeSpan?
      if clock.borrowed != nil, !isDescending {
        // Frames have the times of other frames: skipping the first ones played cuts the last ones
        // of the source.
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
  /// Returns `whole` without the last `count` frames; nil if none is left.
  fileprivate func span(leaving count: Int, in whole: TimeSpan) -> TimeSpan? {
    if count == 0 { return whole }
    guard count < starts.count else { return nil }
    return TimeSpan(start: whole.start, end: starts[starts.count - count])
  }
}

extension PlaybackLegs {
  /// Number of the last leg played before `time`; of the very last leg if `time` is nil or later.
  /// nil for endless loops.
  func last(before time: ClockTime?) -> Int? {
    guard let duration else { return nil }
    let end = min(time ?? duration, duration)
    return number(at: end - ClockTime(nanoseconds: 1))
  }
}
