import CGStreamer
package import MediaTime

/// Buffer with its caps and GStreamer segment (`GstSample`).
package struct Sample: Sendable {
  package let buffer: Buffer
  package let caps: Caps?
  package let segment: Segment

  init?(adopting raw: OpaquePointer) {
    defer { gst_sample_unref(raw) }
    guard let buffer = gst_sample_get_buffer(raw) else { return nil }
    self.buffer = Buffer(retaining: buffer)
    caps = gst_sample_get_caps(raw).map { Caps(retaining: $0) }
    segment = gst_sample_get_segment(raw).map { Segment($0.pointee) } ?? Segment()
  }

  /// Creates a sample. With the default GStreamer segment, timestamps are stream times.
  package init(buffer: Buffer, caps: Caps?, segment: Segment = Segment()) {
    self.buffer = buffer
    self.caps = caps
    self.segment = segment
  }

  /// PTS in stream time.
  package var streamTime: ClockTime? { buffer.pts.map { segment.streamTime(of: $0) } }

  /// Like ``streamTime``, with one exception: if a frame begins before the GStreamer segment and
  /// ends within the segment, the value is the stream time of the segment's start.
  package var presentationTime: ClockTime? { buffer.presentationTime(in: segment) }
}

extension Segment {
  init(_ raw: GstSegment) {
    self.init()
    guard raw.format == GST_FORMAT_TIME else { return }
    start = ClockTime(raw: UInt(raw.start)) ?? .zero
    stop = ClockTime(raw: UInt(raw.stop))
    time = ClockTime(raw: UInt(raw.time)) ?? .zero
    number = Int(clamping: raw.base)
  }
}

extension Buffer {
  /// Returns the PTS in stream time; nil if the buffer has no PTS. If the frame begins before
  /// `segment` and ends within it, the value is the stream time of the segment's start.
  package func presentationTime(in segment: Segment) -> ClockTime? {
    pts.map { segment.presentation(of: $0, lasting: duration) ?? segment.streamTime(of: $0) }
  }

  /// True if the buffer has a PTS and is outside `segment`.
  package func isOutside(_ segment: Segment) -> Bool {
    pts.map { segment.presentation(of: $0, lasting: duration) == nil } ?? false
  }
}
