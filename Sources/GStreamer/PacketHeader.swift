import CGStreamer
package import MediaTime

/// Times and flags of a packet, without its bytes.
package struct PacketHeader: Sendable {
  /// PTS and DTS (stream times) and duration, in nanoseconds; `UInt.max` if missing
  /// (`GST_CLOCK_TIME_NONE`).
  private var pts, dts, duration: UInt
  /// `GstBufferFlags` and `GstVideoBufferFlags`.
  private let flags: UInt32

  /// True if the frame is decoded only as a reference and not shown, because the frame is outside
  /// the GStreamer segment. Without `showsCutFrames`, also true if the frame begins outside that
  /// segment.
  package let isHidden: Bool

  /// - Parameters:
  ///   - segment: GStreamer segment of the packet, used to convert the packet's times to stream
  ///     time (`gst_segment_to_stream_time`).
  ///   - showsCutFrames: true to show a frame that begins before `segment` and ends within
  ///     `segment`.
  package init(_ buffer: Buffer, in segment: Segment, showsCutFrames: Bool) {
    let decoded = buffer.dts.map { segment.streamTime(of: $0) }
    isHidden = buffer.isOutside(segment) || !showsCutFrames && buffer.pts.map { !segment.presents($0) } ?? false
    // Times before 0 become 0. For a hidden packet, this is harmless, because its frame is dropped.
    pts = buffer.presentationTime(in: segment).map { max($0, .zero).raw } ?? UInt.max
    // Decoding times before 0 become 0 too, which is harmless, since a decoder needs only their
    // order.
    dts = decoded.map { max($0, .zero).raw } ?? UInt.max
    duration = buffer.duration?.raw ?? UInt.max
    let own = GST_BUFFER_FLAG_DISCONT.rawValue | GST_BUFFER_FLAG_RESYNC.rawValue | GST_BUFFER_FLAG_TAG_MEMORY.rawValue
    // The lowest four bits are flags of GstMiniObject, not of the buffer.
    flags = UnsafeRawPointer(buffer.raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags & ~own & ~0xF
  }

  /// PTS in stream time; nil if missing.
  package var time: ClockTime? { ClockTime(raw: pts) }

  package mutating func show(at time: ClockTime) { pts = time.raw }
}

extension Buffer {
  /// Creates a packet of `size` bytes, which `fill` writes.
  /// - Throws: errors of `fill`, or ``GStreamerError`` if memory cannot be allocated.
  package convenience init(
    _ header: PacketHeader, size: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    try self.init(size: size, fill: fill)
    header.write(to: raw)
    if header.isHidden { number = Buffer.hidden }
  }

  /// True for a frame decoded from a hidden packet.
  package var isHidden: Bool { number == Buffer.hidden }

  private static let hidden = Int(Int32.max)

  /// Copies the metas of `other` to this buffer, except metas that describe memory. This buffer
  /// must not be shared yet.
  package func append(metasOf other: Buffer) {
    gst_buffer_copy_into(raw, other.raw, GST_BUFFER_COPY_META, 0, gsize.max)
  }

  /// Number of a packet, and of the frame decoded from the packet. Stored as a
  /// `GstReferenceTimestampMeta`, which decoders copy from the packet to the frame
  /// (`gst_video_decoder_transform_meta_default`). Must be set before the buffer is shared.
  package var number: Int? {
    get {
      Buffer.numbers.flatMap { gst_buffer_get_reference_timestamp_meta(raw, $0.raw) }
        .flatMap { Int(exactly: $0.pointee.timestamp) }
    }
    set {
      guard let newValue, let numbers = Buffer.numbers else { return }
      gst_buffer_add_reference_timestamp_meta(raw, numbers.raw, GstClockTime(newValue), GstClockTime.max)
    }
  }

  private static let numbers = Caps("timestamp/x-packet-number")

  /// True if the buffer has any `GstMeta`.
  package var hasMetas: Bool {
    var state: gpointer?
    return gst_buffer_iterate_meta(raw, &state) != nil
  }
}

extension PacketHeader {
  fileprivate func write(to buffer: UnsafeMutablePointer<GstBuffer>) {
    (buffer.pointee.pts, buffer.pointee.dts, buffer.pointee.duration) = (pts, dts, duration)
    UnsafeMutableRawPointer(buffer).assumingMemoryBound(to: GstMiniObject.self).pointee.flags |= flags
  }
}
