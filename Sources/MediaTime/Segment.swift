/// GStreamer segment (`GstSegment`): the range of a stream's timestamps to play, and how timestamps
/// map to stream time.
package struct Segment: Sendable, Hashable {
  /// First timestamp in the segment.
  package var start: ClockTime = .zero
  /// Timestamp at which the segment ends; nil if open.
  package var stop: ClockTime?
  /// Stream time of ``start``.
  package var time: ClockTime = .zero

  /// Number that `Pad.openSegments` gives the segment, such as its index in the stream: the field
  /// `base`.
  package var number = 0

  package init() {}

  /// Stream time of a timestamp; extrapolated outside the segment, unlike
  /// `gst_segment_to_stream_time`.
  package func streamTime(of pts: ClockTime) -> ClockTime { pts - start + time }

  /// True if the segment contains `pts`.
  package func presents(_ pts: ClockTime) -> Bool {
    pts >= start && stop.map { pts < $0 } ?? true
  }

  /// Stream time from which a frame is visible: the start of the segment for a frame that begins
  /// before that start and ends within the segment, as in `gst_video_decoder_clip_and_push_buf`.
  /// nil if the frame lies outside the segment.
  package func presentation(of pts: ClockTime, lasting duration: ClockTime?) -> ClockTime? {
    if presents(pts) { return streamTime(of: pts) }
    guard pts < start, let duration, pts + duration > start + Segment.rounding else { return nil }
    return time
  }

  /// A frame that ends at most this much after the segment's start counts as ending before that
  /// start, because containers round times.
  private static let rounding = ClockTime.milliseconds(2)

  /// End of the segment in stream time; nil if open.
  package var streamEnd: ClockTime? { stop.map { streamTime(of: $0) } }
}
