package import CGStreamer
package import MediaTime

/// Reference to a `GstBuffer`. The reference may move between threads, because a shared buffer is
/// never written.
package final class Buffer: @unchecked Sendable {
  // GstBuffer is refcounted atomically; `make_writable` copies shared metadata before a change.
  package private(set) var raw: UnsafeMutablePointer<GstBuffer>

  package init(adopting raw: UnsafeMutablePointer<GstBuffer>) { self.raw = raw }
  init(retaining raw: UnsafeMutablePointer<GstBuffer>) { self.raw = gst_buffer_ref(raw) }
  deinit { gst_buffer_unref(raw) }

  /// Creates a buffer of `size` bytes, which `fill` writes.
  /// - Throws: errors of `fill`, or ``GStreamerError`` if memory cannot be allocated.
  package convenience init(size: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
    try GStreamer.initialize()
    guard let raw = gst_buffer_new_allocate(nil, gsize(size), nil) else {
      throw GStreamerError(kind: .other, element: nil, message: "no memory for a buffer of \(size) bytes", debug: nil)
    }
    self.init(adopting: raw)
    try withMutableBytes(fill)
  }

  /// Presentation timestamp, in the buffer's GStreamer segment.
  package var pts: ClockTime? { ClockTime(raw: raw.pointee.pts) }
  /// Decoding timestamp, in the buffer's GStreamer segment.
  package var dts: ClockTime? { ClockTime(raw: raw.pointee.dts) }
  package var duration: ClockTime? { ClockTime(raw: raw.pointee.duration) }

  /// Number of the buffer, such as a camera's frame number; nil if the source does not number its
  /// buffers.
  package var offset: Int? { raw.pointee.offset == UInt64.max ? nil : Int(exactly: raw.pointee.offset) }

  /// Number of bytes in the buffer.
  package var size: Int { Int(gst_buffer_get_size(raw)) }

  /// True if the packet can be decoded without earlier packets: `GST_BUFFER_FLAG_DELTA_UNIT` is not
  /// set.
  package var isKeyframe: Bool { !has(GST_BUFFER_FLAG_DELTA_UNIT) }
  /// True for codec headers without media, such as Theora's. Parsers also set
  /// `GST_BUFFER_FLAG_HEADER` on keyframes with parameter sets, but such keyframes have at least a
  /// DTS.
  package var isCodecHeader: Bool { has(GST_BUFFER_FLAG_HEADER) && pts == nil && dts == nil }

  /// True if the packet is only decoded as a reference and not shown:
  /// `GST_BUFFER_FLAG_DECODE_ONLY`.
  package var isDecodedOnly: Bool { has(GST_BUFFER_FLAG_DECODE_ONLY) }

  /// True if the decoder marked the frame as damaged: `GST_BUFFER_FLAG_CORRUPTED`.
  package var isCorrupted: Bool { has(GST_BUFFER_FLAG_CORRUPTED) }

  /// True if the picture is a single field: `GST_VIDEO_BUFFER_FLAG_ONEFIELD`.
  package var isField: Bool { flags & GST_VIDEO_BUFFER_FLAG_ONEFIELD.rawValue != 0 }

  private func has(_ flag: GstBufferFlags) -> Bool { flags & flag.rawValue != 0 }

  private var flags: UInt32 {
    UnsafeRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags
  }

  /// Reads the bytes; the pointer is valid only during `body`.
  package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T {
    var map = GstMapInfo()
    guard gst_buffer_map(raw, &map, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_buffer_unmap(raw, &map) }
    return try body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  package func withMutableBytes<T>(_ body: (UnsafeMutableRawBufferPointer) throws -> T) throws -> T {
    var map = GstMapInfo()
    guard gst_buffer_map(raw, &map, GST_MAP_WRITE) != 0 else { throw Buffer.unmappable }
    defer { gst_buffer_unmap(raw, &map) }
    return try body(UnsafeMutableRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  static let unmappable = GStreamerError(
    kind: .other, element: nil, message: "the memory of a buffer can't be mapped", debug: nil)

  /// Returns a copy that has new times, and shares the memory and the metas (`gst_buffer_copy`); no
  /// pixel is copied. The copy has no timecode.
  /// - Parameter isMirrored: true to swap the field order of interlaced frames
  ///   (`GST_VIDEO_BUFFER_FLAG_TFF`), and to remove captions.
  package func retimed(pts: ClockTime?, duration: ClockTime?, isMirrored: Bool) -> Buffer {
    let copy = shallowCopy()
    copy.setTimes(pts: pts, dts: nil, duration: duration, isMirrored: isMirrored)
    return copy
  }

  /// Like ``retimed(pts:duration:isMirrored:)``, but changes the buffer itself if the buffer has no
  /// other owner. A copy would share the memory, so the original buffer could not return to its
  /// pool (gstbufferpool.c, `default_release_buffer`), and the decoder would need fresh memory for
  /// every frame.
  package static func retime(
    _ buffer: inout Buffer, pts: ClockTime, dts: ClockTime? = nil, duration: ClockTime, isMirrored: Bool
  ) {
    if isKnownUniquelyReferenced(&buffer) {
      let mini = UnsafeMutableRawPointer(buffer.raw).assumingMemoryBound(to: GstMiniObject.self)
      buffer.raw = UnsafeMutableRawPointer(gst_mini_object_make_writable(mini)).assumingMemoryBound(to: GstBuffer.self)
    } else {
      buffer = buffer.shallowCopy()
    }
    buffer.setTimes(pts: pts, dts: dts, duration: duration, isMirrored: isMirrored)
  }

  private func setTimes(pts: ClockTime?, dts: ClockTime?, duration: ClockTime?, isMirrored: Bool) {
    raw.pointee.pts = pts?.raw ?? UInt.max
    raw.pointee.duration = duration?.raw ?? UInt.max
    raw.pointee.dts = dts?.raw ?? UInt.max
    raw.pointee.offset = UInt.max
    raw.pointee.offset_end = UInt.max
    let mini = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self)
    mini.pointee.flags &= ~(GST_BUFFER_FLAG_DISCONT.rawValue | GST_BUFFER_FLAG_RESYNC.rawValue)
    if isMirrored, mini.pointee.flags & GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue != 0 {
      mini.pointee.flags ^= GST_VIDEO_BUFFER_FLAG_TFF.rawValue
    }
    removeMetas { api in
      // Remove timecodes, which count up from the file's first frame. In reversed frames, also
      // remove captions, whose byte pairs are meaningless in another order.
      api == gst_video_time_code_meta_api_get_type() || isMirrored && api == gst_video_caption_meta_api_get_type()
    }
  }

  /// Returns a copy of the packet that has the given times, and shares the memory.
  package func retimed(pts: ClockTime, dts: ClockTime?, duration: ClockTime) -> Buffer {
    let copy = shallowCopy()
    copy.stamp(pts: pts, duration: duration)
    copy.raw.pointee.dts = dts?.raw ?? UInt.max
    return copy
  }

  private func removeMetas(_ isUnwanted: (GType) -> Bool) {
    var unwanted: [UnsafeMutablePointer<GstMeta>] = []
    var state: gpointer?
    while let meta = gst_buffer_iterate_meta(raw, &state) {
      if isUnwanted(meta.pointee.info.pointee.api) { unwanted.append(meta) }
    }
    for meta in unwanted { gst_buffer_remove_meta(raw, meta) }
  }

  /// True if the buffer has a timecode (`GstVideoTimeCodeMeta`).
  package var hasTimeCode: Bool { gst_buffer_get_meta(raw, gst_video_time_code_meta_api_get_type()) != nil }
  /// True if the buffer has caption data (`GstVideoCaptionMeta`: CEA-608 or 708).
  package var hasCaptions: Bool { gst_buffer_get_meta(raw, gst_video_caption_meta_api_get_type()) != nil }

  /// Returns a copy that shares the memory, with the same times, flags and metas.
  package func shallowCopy() -> Buffer {
    let mini = UnsafePointer(UnsafeRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self))
    guard let copy = gst_mini_object_copy(mini) else { return Buffer(retaining: raw) }
    return Buffer(adopting: UnsafeMutableRawPointer(copy).assumingMemoryBound(to: GstBuffer.self))
  }

  /// Returns a copy of the packet with only its last memory block (`GstMemory`); nil if the packet
  /// has only one block.
  package func withLastMemory() -> Buffer? {
    let count = gst_buffer_n_memory(raw)
    guard count > 1 else { return nil }
    let copy = shallowCopy()
    gst_buffer_remove_memory_range(copy.raw, 0, Int32(count) - 1)
    return copy
  }

  /// Sets PTS and duration of a buffer that is not shared yet.
  package func stamp(pts: ClockTime, duration: ClockTime) {
    raw.pointee.pts = pts.raw
    raw.pointee.duration = duration.raw
  }

  /// Returns a copy of the packet, with the PTS reduced by `delay`, and with a DTS equal to the new
  /// PTS; nil if the packet has no PTS.
  package func withPresentationTime(earlierBy delay: ClockTime) -> Buffer? {
    guard let pts else { return nil }
    let copy = shallowCopy()
    copy.raw.pointee.pts = (pts - delay).raw
    copy.raw.pointee.dts = copy.raw.pointee.pts
    return copy
  }

  /// Returns a copy without the memory, but with the flags, times and metas (among them strides and
  /// offsets of planes).
  ///
  /// The memory is removed only after the copy, because a copy without memory lacks the metas that
  /// describe memory, such as GstVideoMeta.
  package func withoutMemory() -> Buffer {
    let copy = shallowCopy()
    gst_buffer_remove_all_memory(copy.raw)
    return copy
  }

  /// Appends the memory of `other` by reference; this buffer must not be shared yet.
  package func append(memoryOf other: Buffer) {
    gst_buffer_copy_into(raw, other.raw, GST_BUFFER_COPY_MEMORY, 0, gsize.max)
  }

  /// Returns a copy that does not share memory with this buffer.
  package func deepCopy() -> Buffer { gst_buffer_copy_deep(raw).map { Buffer(adopting: $0) } ?? shallowCopy() }

  /// True if the buffer's pool is limited: `max_buffers` of its configuration is not 0.
  package var isOfBoundedPool: Bool {
    guard let pool = raw.pointee.pool, let configuration = gst_buffer_pool_get_config(pool) else { return false }
    defer { gst_structure_free(configuration) }
    var most: guint = 0
    gst_buffer_pool_config_get_params(configuration, nil, nil, nil, &most)
    return most > 0
  }

  /// Returns the first `count` sample frames of a raw audio buffer, in any layout
  /// (`gst_audio_buffer_truncate`).
  package func prefix(sampleFrames count: Int, of caps: Caps) -> Buffer {
    guard let size = caps.bytesPerSampleFrame, size > 0, count < self.size / size,
      let cut = gst_audio_buffer_truncate(gst_buffer_ref(raw), gint(size), 0, gsize(max(count, 0)))
    else { return self }
    return Buffer(adopting: cut)
  }

  /// Returns a buffer that shares a range of the memory, without times. The range must not exceed
  /// ``size``.
  package func part(_ range: Range<Int>) throws -> Buffer {
    guard range.lowerBound >= 0, range.upperBound <= size,
      let part = gst_buffer_copy_region(raw, GST_BUFFER_COPY_MEMORY, gsize(range.lowerBound), gsize(range.count))
    else { throw Buffer.unmappable }
    return Buffer(adopting: part)
  }

  /// Sets `GST_BUFFER_FLAG_DISCONT`, which marks a gap before the buffer. The buffer must not be
  /// shared.
  package func markDiscontinuous() {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags |=
      GST_BUFFER_FLAG_DISCONT.rawValue
  }

  /// Returns a new reference for a C function that takes ownership.
  package func retained() -> UnsafeMutablePointer<GstBuffer> { gst_buffer_ref(raw) }

  /// Calls `body` for each plane of raw audio, with the number of bytes per sample frame in that
  /// plane. Interleaved audio has one plane of whole sample frames; other audio has one plane for
  /// each channel. The buffer must not be shared.
  package func withAudioPlanes(
    _ caps: Caps, _ body: (UnsafeMutableRawBufferPointer, _ bytesPerFrame: Int) -> Void
  ) throws {
    var info = GstAudioInfo()
    var audio = GstAudioBuffer()
    // Reject 0 channels, which caps may declare, because GStreamer divides by the number of
    // channels.
    guard gst_audio_info_from_caps(&info, caps.raw) != 0, info.bpf > 0, info.channels > 0,
      gst_audio_buffer_map(&audio, &info, raw, GstMapFlags(GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)) != 0
    else { throw Buffer.unmappable }
    defer { gst_audio_buffer_unmap(&audio) }
    let isPlanar = info.layout == GST_AUDIO_LAYOUT_NON_INTERLEAVED
    let width = isPlanar ? Int(info.bpf / info.channels) : Int(info.bpf)
    for plane in 0..<Int(audio.n_planes) {
      guard let start = audio.planes[plane] else { continue }
      body(UnsafeMutableRawBufferPointer(start: start, count: Int(audio.n_samples) * width), width)
    }
  }
}
