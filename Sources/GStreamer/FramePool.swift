import CGStreamer

/// Pool of video frames in system memory for decoders. Differs from GStreamer's own pool only in
/// the first mapping of a frame.
///
/// gst-libav keeps a frame mapped for writing as long as FFmpeg uses the frame as a reference, long
/// after the frame was output (`gst_ffmpegviddec_get_buffer2`). A frame mapped for writing cannot
/// be shared, so GstVideoDecoder copies the pixels of most frames to set their times
/// (`gst_video_decoder_finish_frame`, `gst_buffer_make_writable`).
///
/// This pool turns the first mapping of a frame, which is the decoder's, into a mapping for
/// reading. In system memory, both kinds of mapping are the same, so the decoder can still write,
/// and the frame can be shared. Any other element that wants to write to the frame gets a copy, and
/// FFmpeg does not write to frames after their output (`AV_BUFFER_FLAG_READONLY` in
/// `gst_ffmpegviddec_get_buffer2`).
enum FramePool {
  /// Creates an unconfigured pool.
  static func make() -> UnsafeMutablePointer<GstBufferPool>? {
    guard type != 0, let object = g_object_new_with_properties(type, 0, nil, nil) else {
      return gst_video_buffer_pool_new()
    }
    return gst_object_ref_sink(UnsafeMutableRawPointer(object))?.assumingMemoryBound(to: GstBufferPool.self)
  }

  /// GType of the pool; 0 if it cannot be registered.
  private static let type: GType = {
    let name = "RetrogradeFramePool"
    // A program that uses the library may also load the plugin. Both contain this code, so the type
    // may be registered already.
    let known = g_type_from_name(name)
    if known != 0 { return known }
    var query = GTypeQuery()
    g_type_query(gst_video_buffer_pool_get_type(), &query)
    var info = GTypeInfo()
    info.class_size = guint16(clamping: query.class_size)
    info.instance_size = guint16(clamping: query.instance_size)
    info.class_init = { pool, _ in
      pool?.assumingMemoryBound(to: GstBufferPoolClass.self).pointee.acquire_buffer = FramePool.acquire
    }
    return g_type_register_static(gst_video_buffer_pool_get_type(), name, &info, GTypeFlags(0))
  }()

  private typealias Acquire =
    @convention(c) (
      UnsafeMutablePointer<GstBufferPool>?, UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>?,
      UnsafeMutablePointer<GstBufferPoolAcquireParams>?
    ) -> GstFlowReturn

  private static let acquire: Acquire = { pool, buffer, parameters in
    let parent = g_type_class_peek(gst_video_buffer_pool_get_type())?.assumingMemoryBound(to: GstBufferPoolClass.self)
    let flow = parent?.pointee.acquire_buffer?(pool, buffer, parameters) ?? GST_FLOW_ERROR
    if flow == GST_FLOW_OK, let frame = buffer?.pointee, gst_buffer_n_memory(frame) == 1,
      gst_memory_is_type(gst_buffer_peek_memory(frame, 0), GST_ALLOCATOR_SYSMEM) != 0,
      let meta = gst_buffer_get_video_meta(frame)
    {
      meta.pointee.map = mapFirst
    }
    return flow
  }

  private typealias Map =
    @convention(c) (
      UnsafeMutablePointer<GstVideoMeta>?, guint, UnsafeMutablePointer<GstMapInfo>?,
      UnsafeMutablePointer<gpointer?>?, UnsafeMutablePointer<gint>?, GstMapFlags
    ) -> gboolean

  private static let mapFirst: Map = { meta, plane, info, data, stride, flags in
    guard let meta, let map = FramePool.map else { return 0 }
    if plane + 1 == meta.pointee.n_planes { meta.pointee.map = map }
    let reading = GstMapFlags(flags.rawValue & ~GST_MAP_WRITE.rawValue | GST_MAP_READ.rawValue)
    return map(meta, plane, info, data, stride, reading)
  }

  /// GStreamer's function that maps a plane. The function is not exported, but a frame's
  /// GstVideoMeta has a pointer to it.
  private static let map: Map? = {
    guard let frame = gst_buffer_new() else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(frame).assumingMemoryBound(to: GstMiniObject.self)) }
    return gst_buffer_add_video_meta(frame, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1)?.pointee.map
  }()
}
