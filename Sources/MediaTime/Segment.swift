/// GStreamer segment (`GstSegment`): the range of a stream's timestamps to play, and how timestamps
/// map to stream time.
package struct Segment: Sendable, Hashable {
  /// First timestamp in the segment.
  package var start: ClockTime = .zero
  /// Timestamp at which the segment ends; nil if open.
  package var stop: ClockTime?
  /// Stream time of ``start``.
  package var time: ClockTime = .zero

  /// Number that `Pad.openSegments` stores in the field `base`, such as the segment's index in the
  /// stream.
  package var number = 0

  package init() {}

  /// Returns the stream time of a timestamp. Extrapolates outside the segment, unlike
  /// `gst_segment_to_stream_time`.
  package func streamTime(of pts: ClockTime) -> ClockTime { pts - start + time }

  /// True if the segment contains `pts`.
  package func presents(_ pts: ClockTime) -> Bool {
    pts >= start && stop.map { pts < $0 } ?? true
  }

  /// Returns the stream time at which a frame appears; nil if the frame is outside the segment. A
  /// frame that begins before the segment and ends within it appears at the segment's start, as in
  /// `gst_video_decoder_clip_and_push_buf`.
  package func presentation(of pts: ClockTime, lasting duration: ClockTime?) -> ClockTime? {
    if presents(pts) { return streamTime(of: pts) }
    guard pts < start, let duration, pts + duration > start + Segment.rounding else { return nil }
    return time
  }

  /// Tolerance, because containers round times: if a frame ends at most this long after the
  /// segment's start, the frame counts as outside the segment.
  private static let rounding = ClockTime.milliseconds(2)

  /// End of the segment in stream time; nil if open.
  package var streamEnd: ClockTime? { stop.map { streamTime(of: $0) } }
}
