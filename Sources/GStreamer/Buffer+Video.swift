import CGStreamer

extension Buffer {
  /// Of an interlaced frame, whether the field of its first line comes first; nil of one that is not interlaced.
  package var isTopFieldFirst: Bool? {
    let flags = UnsafeRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self).pointee.flags
    guard flags & GST_VIDEO_BUFFER_FLAG_INTERLACED.rawValue != 0 else { return nil }
    return flags & GST_VIDEO_BUFFER_FLAG_TFF.rawValue != 0
  }

  /// Creates a frame of 32 bits a pixel, blue, green, red and alpha or nothing, rows without padding, all 0.
  package static func frame(width: Int, height: Int) throws -> Buffer {
    try Buffer(size: width * height * 4) { bytes in bytes.initializeMemory(as: UInt8.self, repeating: 0) }
  }

  /// The frame with `overlay` drawn over it, in memory of its own (`gst_video_overlay_composition_blend`).
  ///
  /// - Parameters:
  ///   - overlay: blue, green, red and alpha, by which the colours are multiplied, rows without padding, as wide as the frame.
  ///   - rows: the rows of the overlay, and of the frame, that are used.
  ///   - caps: of the frame.
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

extension Caps {
  /// The bytes of a frame of raw video, in the plain layout (`gst_video_info_from_caps`).
  package var frameSize: Int? {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0 else { return nil }
    return Int(info.size)
  }

  /// Whether the pixels of raw video are red, green and blue (`GST_VIDEO_FORMAT_FLAG_RGB`).
  package var isRGB: Bool {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0, let format = info.finfo else { return false }
    return format.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_RGB.rawValue != 0
  }

  /// Whether the pixels of raw video say how much of them is seen (`GST_VIDEO_FORMAT_FLAG_ALPHA`).
  package var hasAlpha: Bool {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, raw) != 0, let format = info.finfo else { return false }
    return format.pointee.flags.rawValue & GST_VIDEO_FORMAT_FLAG_ALPHA.rawValue != 0
  }
}
