/// Part of a stream to present, and how its timestamps map to stream time (`GstSegment`).
package struct Segment: Sendable, Hashable {
  /// First timestamp that is presented.
  package var start: ClockTime = .zero
  /// Timestamp at which the segment ends; nil if open.
  package var stop: ClockTime?
  /// Stream time of `start`.
  package var time: ClockTime = .zero

  /// Index of the segment in its stream, from 0; only set by `Pad.openSegments`.
  package var number = 0

  package init() {}

  /// Stream time of a timestamp; extrapolated outside the segment, unlike
  /// `gst_segment_to_stream_time`.
  package func streamTime(of pts: ClockTime) -> ClockTime { pts - start + time }

  /// True if a buffer with timestamp `pts` is presented.
  package func presents(_ pts: ClockTime) -> Bool {
    pts >= start && stop.map { pts < $0 } ?? true
  }

  /// Stream time from which a frame is presented: the segment's start if the frame overlaps it, as
  /// in `gst_video_decoder_clip_and_push_buf`. nil if the frame lies outside the segment.
  package func presentation(of pts: ClockTime, lasting duration: ClockTime?) -> ClockTime? {
    if presents(pts) { return streamTime(of: pts) }
    guard pts < start, let duration, pts + duration > start + Segment.rounding else { return nil }
    return time
  }

  /// Overlap below which a frame counts as ending before the start: containers round times.
  private static let rounding = ClockTime.milliseconds(2)

  /// End of the segment in stream time; nil if open.
  package var streamEnd: ClockTime? { stop.map { streamTime(of: $0) } }
}
