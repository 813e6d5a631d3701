/// The stretch of a stream that is to be presented, and how its timestamps map onto the presentation (`GstSegment`).
package struct Segment: Sendable, Hashable {
  /// The first timestamp that is presented.
  package var start: ClockTime = .zero
  /// The timestamp at which the presentation of the segment ends; nil where it is open.
  package var stop: ClockTime?
  /// The stream time of `start`.
  package var time: ClockTime = .zero

  /// Which of a stream's segments it is, counted from 0; known of those that were opened (`Pad.openSegments`).
  package var number = 0

  package init() {}

  /// Linear also outside the segment, where `gst_segment_to_stream_time` gives nothing.
  package func streamTime(of pts: ClockTime) -> ClockTime { pts - start + time }

  /// True if a buffer that starts at timestamp `pts` is presented.
  package func presents(_ pts: ClockTime) -> Bool {
    pts >= start && stop.map { pts < $0 } ?? true
  }

  /// Stream time from which a frame is presented; the segment's start if the frame begins before and ends after it, as
  /// in `gst_video_decoder_clip_and_push_buf`. nil if the frame lies outside the segment.
  package func presentation(of pts: ClockTime, lasting duration: ClockTime?) -> ClockTime? {
    if presents(pts) { return streamTime(of: pts) }
    guard pts < start, let duration, pts + duration > start + Segment.rounding else { return nil }
    return time
  }

  /// Frames that overlap the start by less end before it: containers round times.
  private static let rounding = ClockTime.milliseconds(2)

  /// End of the segment in stream time, if it ends.
  package var streamEnd: ClockTime? { stop.map { streamTime(of: $0) } }
}
