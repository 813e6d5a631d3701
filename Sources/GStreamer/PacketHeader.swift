import CGStreamer
package import MediaTime

/// Header of a packet: all of it but its bytes.
package struct PacketHeader: Sendable {
  /// Times in the packet's segment, as GStreamer has them.
  private var pts, dts, duration: UInt
  /// `GstBufferFlags` and `GstVideoBufferFlags`.
  private let flags: UInt32

  /// True if its frame is only decoded for the sake of others (``Buffer/isOutside(_:)``).
  package let isHidden: Bool

  /// - Parameters:
  ///   - segment: that the packet came with; times become those of the stream (`gst_segment_to_stream_time`).
  ///   - showsCutFrames: whether a frame is shown within which the segment begins.
  package init(_ buffer: Buffer, in segment: Segment, showsCutFrames: Bool) {
    let decoded = buffer.dts.map { segment.streamTime(of: $0) }
    isHidden = buffer.isOutside(segment) || !showsCutFrames && buffer.pts.map { !segment.presents($0) } ?? false
    // A hidden packet only needs some time: its frame is dropped.
    pts = buffer.presentationTime(in: segment).map { max($0, .zero).raw } ?? UInt.max
    // A decoder needs the order of these times only.
    dts = decoded.map { max($0, .zero).raw } ?? UInt.max
    duration = buffer.duration?.raw ?? UInt.max
    let own = GST_BUFFER_FLAG_DISCONT.rawValue | GST_BUFFER_FLAG_RESYNC.rawValue | GST_BUFFER_FLAG_TAG_MEMORY.rawValue
    // The lowest bits are those of every GstMiniObject.
    flags = UnsafeRawPointer(buffer.raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags & ~own & ~0xF
  }

  /// When it is shown.
  package var time: ClockTime? { ClockTime(raw: pts) }

  package mutating func show(at time: ClockTime) { pts = time.raw }
}

extension Buffer {
  /// A packet of `size` bytes, which `fill` writes.
  /// - Throws: whatever `fill` throws, or ``GStreamerError`` if the memory can't be had.
  package convenience init(
    _ header: PacketHeader, size: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    try self.init(size: size, fill: fill)
    header.write(to: raw)
    if header.isHidden { number = Buffer.hidden }
  }

  /// True for a frame of a packet whose header is hidden.
  package var isHidden: Bool { number == Buffer.hidden }

  private static let hidden = Int(Int32.max)

  /// Adds the metas of `other` that do not describe its memory; this buffer must not be shared yet.
  package func append(metasOf other: Buffer) {
    gst_buffer_copy_into(raw, other.raw, GST_BUFFER_COPY_META, 0, gsize.max)
  }

  /// A number that a packet and the frame that is made of it have: decoders hand on a `GstReferenceTimestampMeta`
  /// (`gst_video_decoder_transform_meta_default`). A buffer that gets one must not be shared yet.
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

  /// True if something comes with it that is neither bytes nor times (`GstMeta`).
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
