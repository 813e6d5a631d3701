import CGStreamer

extension Buffer {
  /// True if the buffer flags mark the top field as the first; nil if the flags do not mark the
  /// frame as interlaced. ``Sample/isTopFieldFirst`` also considers the caps.
  package var isTopFieldFirst: Bool? {
    let flags = UnsafeRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags
    guard flags & GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue != 0 else { return nil }
    return flags & GST_VIDEO_BUFFER_FLAG_TFF.rawValue != 0
  }

  /// Returns a copy whose flags declare the field order of `caps`, and which shares the memory; nil
  /// if `caps` declare no order, or if the flags already declare it.
  package func withFieldOrder(of caps: Caps) -> Buffer? {
    let orders = ["top-field-first": true, "bottom-field-first": false]
    guard let isTopFirst = caps.string("field-order").flatMap({ orders[$0] }), isTopFieldFirst != isTopFirst else {
      return nil
    }
    let copy = shallowCopy()
    let mini = UnsafeMutableRawPointer(copy.raw).assumingMemoryBound(to: GstMiniObject.self)
    mini.pointee.flags |= GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue | GST_VIDEO_BUFFER_FLAG_TFF.rawValue
    if !isTopFirst { mini.pointee.flags &= ~GST_VIDEO_BUFFER_FLAG_TFF.rawValue }
    return copy
  }

  /// Creates a frame with 32 bits a pixel (blue, green, red, and alpha or padding), no row padding,
  /// and all bytes 0.
  package static func frame(width: Int, height: Int) throws -> Buffer {
    try Buffer(size: width * height * 4) { bytes in bytes.initializeMemory(as: UInt8.self, repeating: 0) }
  }

  /// Returns the frame in the default layout of `caps` (`gst_video_info_from_caps`), for elements
  /// that ignore `GstVideoMeta`. The pixels are copied if the layout differs.
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped.
  package func inPlainLayout(_ caps: Caps) throws -> Buffer {
    var info = GstVideoInfo()
    guard let meta = gst_buffer_get_video_meta(raw), gst_video_info_from_caps(&info, caps.raw) != 0 else { return self }
    let planes = Int(meta.pointee.n_planes)
    func first<Tuple>(_ values: Tuple, _ size: Int) -> [UInt8] {
      withUnsafeBytes(of: values) { Array($0.prefix(planes * size)) }
    }
    let (word, stride) = (MemoryLayout<gsize>.size, MemoryLayout<gint>.size)
    if first(meta.pointee.offset, word) == first(info.offset, word),
      first(meta.pointee.stride, stride) == first(info.stride, stride)
    {
      return self
    }
    return try copied(&info)
  }

  /// Copies the frame into system memory (`gst_video_frame_map`), in the default layout.
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped.
  package func inSystemMemory(_ caps: Caps) throws -> Buffer {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0 else { throw Buffer.unmappable }
    return try copied(&info)
  }

  /// Copies the frame without its first columns, in the default layout.
  /// - Parameters:
  ///   - caps: caps of the frame.
  ///   - cut: caps of the copy, which is narrower by `columns`.
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped.
  func withoutFirstColumns(_ columns: Int, from caps: Caps, to cut: Caps) throws -> Buffer {
    var (whole, part) = (GstVideoInfo(), GstVideoInfo())
    guard gst_video_info_from_caps(&whole, caps.raw) != 0, gst_video_info_from_caps(&part, cut.raw) != 0 else {
      throw Buffer.unmappable
    }
    return try copied(&whole, to: &part, skipping: columns) { _ in }
  }

  /// Copies the frame, and extends each row to a multiple of 32 pixels by repeating the last pixel.
  /// - Parameter caps: caps of the frame.
  /// - Returns: nil if rows already end with a whole JPEG block, if a component takes more than one
  ///   byte, or if a plane contains several components.
  /// - Throws: ``GStreamerError`` if memory cannot be allocated or mapped.
  package func withRepeatedEdge(_ caps: Caps) throws -> Buffer? {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0 else { return nil }
    let format = info.finfo.pointee
    let planes = Int(format.n_planes)
    func first<Tuple, Value>(_ values: Tuple, as type: Value.Type) -> [Value] {
      withUnsafeBytes(of: values) { Array($0.bindMemory(to: type).prefix(planes)) }
    }
    guard planes == format.n_components, first(format.pixel_stride, as: gint.self).allSatisfy({ $0 == 1 }) else {
      return nil
    }
    let block = 8 << Int(first(format.w_sub, as: guint.self).max() ?? 0)
    guard Int(info.width) % block != 0 else { return nil }
    let shifts = zip(first(format.w_sub, as: guint.self), first(format.h_sub, as: guint.self))
    // Rounds up, as GST_VIDEO_SUB_SCALE does.
    let sizes = shifts.map { (width: -(-Int(info.width) >> Int($0)), height: -(-Int(info.height) >> Int($1))) }
    var aligned = info
    var alignment = GstVideoAlignment()
    alignment.padding_right = guint(31 - (info.width + 31) % 32)
    guard gst_video_info_align(&aligned, &alignment) != 0 else { return nil }
    let strides = first(aligned.stride, as: gint.self)
    let copy = try copied(&info, to: &aligned) { frame in
      for (plane, data) in first(frame.data, as: UnsafeMutableRawPointer?.self).enumerated() {
        guard let data else { continue }
        let (width, stride) = (sizes[plane].width, Int(strides[plane]))
        for row in 0..<sizes[plane].height {
          let edge = data + row * stride + width
          let last = (edge - 1).load(as: UInt8.self)
          edge.initializeMemory(as: UInt8.self, repeating: last, count: stride - width)
        }
      }
    }
    var (offsets, lengths) = (first(aligned.offset, as: gsize.self), strides)
    gst_buffer_add_video_meta_full(
      copy.raw, GST_VIDEO_FRAME_FLAG_NONE, format.format, guint(info.width), guint(info.height), guint(planes),
      &offsets, &lengths)
    return copy
  }

  /// Copies the frame into new memory, in the default layout.
  private func copied(_ info: inout GstVideoInfo) throws -> Buffer {
    var plain = info
    return try copied(&info, to: &plain) { _ in }
  }

  /// Copies the frame into new memory, in the layout of `other`, which may be narrower.
  /// - Parameters:
  ///   - columns: number of columns to leave out at the left edge.
  ///   - finish: called while the copy is mapped, with the copy.
  private func copied(
    _ info: inout GstVideoInfo, to other: inout GstVideoInfo, skipping columns: Int = 0,
    finish: (GstVideoFrame) -> Void
  ) throws -> Buffer {
    guard let plain = gst_buffer_new_allocate(nil, other.size, nil) else { throw Buffer.unmappable }
    let copy = Buffer(adopting: plain)
    var (from, to) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&from, &info, raw, GST_MAP_READ) != 0 else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&from) }
    guard gst_video_frame_map(&to, &other, plain, GST_MAP_WRITE) != 0 else { throw Buffer.unmappable }
    if columns > 0 { from.skip(columns) }
    let isCopied = gst_video_frame_copy(&to, &from) != 0
    finish(to)
    gst_video_frame_unmap(&to)
    guard isCopied else { throw Buffer.unmappable }
    // GST_BUFFER_COPY_META without GST_BUFFER_COPY_MEMORY skips metas that describe memory, such as
    // GstVideoMeta. So the copy does not get the layout of the original.
    let all = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue | GST_BUFFER_COPY_META.rawValue
    gst_buffer_copy_into(plain, raw, GstBufferCopyFlags(all), 0, gsize.max)
    return copy
  }

  /// Draws `overlay` over a copy of the frame (`gst_video_overlay_composition_blend`).
  ///
  /// - Parameters:
  ///   - overlay: pixels of blue, green, red and premultiplied alpha, as wide as the frame, without
  ///     row padding.
  ///   - rows: range of rows to blend, the same in the overlay and in the frame.
  ///   - caps: caps of the frame.
  package func blending(_ overlay: Buffer, rows: Range<Int>, caps: Caps) throws -> Buffer {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.raw) != 0 else { throw Buffer.unmappable }
    let width = Int(info.width)
    guard !rows.isEmpty, overlay.size >= rows.upperBound * width * 4,
      let part = gst_buffer_copy_region(
        overlay.raw, GST_BUFFER_COPY_MEMORY, gsize(rows.lowerBound * width * 4), gsize(rows.count * width * 4))
    else { return self }
    defer { gst_buffer_unref(part) }
    gst_buffer_add_video_meta(
      part, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_BGRA, guint(width), guint(rows.count))
    guard
      let rectangle = gst_video_overlay_rectangle_new_raw(
        part, 0, gint(rows.lowerBound), guint(width), guint(rows.count),
        GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA)
    else { return self }
    let composition = gst_video_overlay_composition_new(rectangle)
    gst_mini_object_unref(UnsafeMutableRawPointer(rectangle).assumingMemoryBound(to: GstMiniObject.self))
    guard let composition else { return self }
    defer {
      gst_mini_object_unref(UnsafeMutableRawPointer(composition).assumingMemoryBound(to: GstMiniObject.self))
    }
    let copy = deepCopy()
    var frame = GstVideoFrame()
    guard
      gst_video_frame_map(
        &frame, &info, copy.raw, GstMapFlags(GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)) != 0
    else { throw Buffer.unmappable }
    defer { gst_video_frame_unmap(&frame) }
    guard gst_video_overlay_composition_blend(composition, &frame) != 0 else { throw Buffer.unmappable }
    return copy
  }
}

extension GstVideoFrame {
  /// Moves the start of the rows to the right. Like `gst_video_frame_copy`, this assumes that plane
  /// n has the subsampling of component n.
  fileprivate mutating func skip(_ columns: Int) {
    guard let format = info.finfo?.pointee else { return }
    func bytes(_ shift: guint, _ step: gint) -> Int { (columns >> Int(shift)) * Int(step) }
    data.0 = data.0?.advanced(by: bytes(format.w_sub.0, format.pixel_stride.0))
    data.1 = data.1?.advanced(by: bytes(format.w_sub.1, format.pixel_stride.1))
    data.2 = data.2?.advanced(by: bytes(format.w_sub.2, format.pixel_stride.2))
    data.3 = data.3?.advanced(by: bytes(format.w_sub.3, format.pixel_stride.3))
  }
}

extension Caps {
  /// Size in bytes of a raw video frame in the default layout (`gst_video_info_from_caps`).
  package var frameSize: Int? {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0 else { return nil }
    return Int(info.size)
  }

  /// Number of columns and of lines of raw video that share one chroma value, such as 2 and 2 for
  /// 4:2:0 (`GstVideoFormatInfo.w_sub` and `h_sub`).
  package var chromaSteps: (x: Int, y: Int) {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0, let format = info.finfo, format.pointee.n_components > 1 else {
      return (1, 1)
    }
    return (1 << Int(format.pointee.w_sub.1), 1 << Int(format.pointee.h_sub.1))
  }

  /// True if raw video may have interlaced frames.
  package var isInterlaced: Bool {
    var info = GstVideoInfo()
    return gst_video_info_from_caps(&info, raw) != 0 && info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE
  }

  /// True if the pixels of raw video are red, green and blue (`GST_VIDEO_FORMAT_FLAG_RGB`).
  package var isRGB: Bool {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0, let format = info.finfo else { return false }
    return format.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_RGB.rawValue != 0
  }

  /// True if the pixels of raw video have alpha (`GST_VIDEO_FORMAT_FLAG_ALPHA`).
  package var hasAlpha: Bool {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0, let format = info.finfo else { return false }
    return format.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0
  }
}
