public import MediaTime

/// A half-open time range, `[start, end)`.
public struct TimeSpan: Hashable, Sendable, Codable {
  public var start: ClockTime
  public var end: ClockTime

  public init(start: ClockTime, end: ClockTime) {
    self.start = start
    self.end = end
  }

  public var duration: ClockTime { end - start }

  /// Returns the part of this range inside `other`. If the ranges do not overlap, this is an empty
  /// range at the nearest end of `other`.
  func clamped(to other: TimeSpan) -> TimeSpan {
    TimeSpan(start: min(max(start, other.start), other.end), end: max(min(end, other.end), other.start))
  }
}

/// The timeline shared by all streams of a source. It defines the mirror: a frame shown during
/// `[a, b)` in the source is shown during `[T-b, T-a)` in the mirror, where T is the length of the
/// presentation.
package struct Presentation: Hashable, Sendable, Codable {
  /// Time span from the earliest start of any stream to the latest end of any stream.
  package var span: TimeSpan

  package init(_ span: TimeSpan) { self.span = span }

  package var duration: ClockTime { span.duration }

  /// Returns the time span of `other` in the mirror, whose time starts at 0.
  /// - Parameter other: time span in source time.
  package func mirrored(_ other: TimeSpan) -> TimeSpan {
    TimeSpan(start: span.end - other.end, end: span.end - other.start)
  }
}

/// Timing of the mirror's frames.
public enum Timing: String, Sendable, CaseIterable, Codable {
  /// Each frame is shown as long as in the source, so a variable frame rate is reversed too.
  case mirror
  /// The i-th frame of the output starts at the same time as the i-th frame of the source.
  case source
}

/// Display times of a video's frames.
package struct VideoTimeline: Hashable, Sendable {
  /// Start of each frame, in display order, ascending.
  package let starts: [ClockTime]
  /// End of the last frame.
  package let end: ClockTime

  /// - Parameters:
  ///   - starts: start of each frame, ascending.
  ///   - end: end of the last frame; not before that frame's start.
  package init(starts: [ClockTime], end: ClockTime) {
    self.starts = starts
    self.end = max(end, starts.last ?? end)
  }

  package var count: Int { starts.count }

  /// Average frames per second; 25 if unknown.
  package var frameRate: Double {
    guard let first = starts.first, end > first else { return 25 }
    return Double(count) / (end - first).seconds
  }

  /// Returns the display time of frame `index`, up to the start of the next frame.
  package func span(of index: Int) -> TimeSpan {
    TimeSpan(start: starts[index], end: index + 1 < starts.count ? starts[index + 1] : end)
  }

  /// Returns the display times in the mirror, in the mirror's order: entry i is the time of frame
  /// `count - 1 - i`.
  package func mirrored(in presentation: Presentation, timing: Timing = .mirror) -> [TimeSpan] {
    guard let first = starts.first else { return [] }
    switch timing {
    case .mirror:
      return starts.indices.reversed().map { presentation.mirrored(span(of: $0)) }
    case .source:
      let offset = ClockTime.zero - first
      return starts.indices.map { index in
        let span = span(of: index)
        return TimeSpan(start: span.start + offset, end: span.end + offset)
      }
    }
  }

  /// Returns the numbers of the frames shown during `range`, and the timeline limited to `range`. A
  /// frame already on screen when the range starts is shown from the start of the range.
  package func clipped(to range: TimeSpan) -> (frames: Range<Int>, timeline: VideoTimeline) {
    let shown = starts.indices.filter { index in
      let span = span(of: index)
      return span.end > range.start && span.start < range.end
    }
    guard let first = shown.first, let last = shown.last else {
      return (0..<0, VideoTimeline(starts: [], end: range.start))
    }
    var kept = Array(starts[first...last])
    kept[0] = max(kept[0], range.start)
    return (first..<last + 1, VideoTimeline(starts: kept, end: min(span(of: last).end, range.end)))
  }

  /// Thins the timeline to at most `rate` frames per second. Time from `start` on is divided into
  /// slots of one output frame each. A slot keeps the frame that is on screen after the slot's
  /// first quarter, and shows this frame from the slot's start.
  /// - Returns: the kept frames, and their display times.
  package func thinned(to rate: FrameRate, from start: ClockTime) -> (frames: [Int], timeline: VideoTimeline) {
    let quarter = ClockTime(nanoseconds: rate.start(of: 1).nanoseconds / 4)
    var frames: [Int] = []
    var kept: [ClockTime] = []
    var slot = 0
    for index in starts.indices {
      let span = span(of: index)
      // `first..<next` are the slots whose first quarter ends while the frame is on screen. The
      // slots are computed without a loop, because times in damaged files jump by years.
      let first = max(slot, rate.count(before: span.start - start - quarter))
      let next = rate.count(before: span.end - start - quarter)
      guard first < next else { continue }
      slot = next
      frames.append(index)
      kept.append(start + rate.start(of: first))
    }
    return (frames, VideoTimeline(starts: kept, end: end))
  }
}
