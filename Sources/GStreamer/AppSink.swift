import CGStreamer
package import MediaTime

/// Pipeline end from which the program pulls frames or packets (`GstAppSink`, `GstSample`).
package final class AppSink: @unchecked Sendable {
  // gst_app_sink_try_pull_sample and gst_app_sink_is_eos may be called from any thread.
  private let element: Element
  private var raw: UnsafeMutablePointer<GstAppSink> {
    UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GstAppSink.self)
  }

  init?(_ element: Element) {
    guard
      g_type_check_instance_is_a(
        UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GTypeInstance.self), gst_app_sink_get_type()) != 0
    else { return nil }
    self.element = element
  }

  /// Waits up to `timeout` for the next sample.
  ///
  /// - Returns: nil after the timeout, at the end of the stream (see ``isEndOfStream``), or if the
  ///   pipeline stops.
  package func pull(timeout: ClockTime) -> Sample? {
    gst_app_sink_try_pull_sample(raw, GstClockTime(timeout.raw)).flatMap { Sample(adopting: $0) }
  }

  /// Pulls and drops all samples until the stream ends or the pipeline stops.
  package func drain() {
    while !isEndOfStream { _ = pull(timeout: ClockTime(nanoseconds: 100_000_000)) }
  }

  /// True if the stream ended and every sample was pulled.
  package var isEndOfStream: Bool { gst_app_sink_is_eos(raw) != 0 }

  /// Restricts the sink to `caps`, unless the sink already has caps.
  package func setDefaultCaps(_ caps: Caps) {
    if let known = gst_app_sink_get_caps(raw) {
      gst_caps_unref(known)
    } else {
      gst_app_sink_set_caps(raw, caps.raw)
    }
  }

  /// Keeps packets outside their GStreamer segment, because a decoder may need such packets as
  /// references. By default, sinks drop these packets.
  package func takeBuffersOutsideSegments() {
    gst_base_sink_set_drop_out_of_segment(
      UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GstBaseSink.self), 0)
  }

  /// Seeks the upstream elements to `time`, with the flags FLUSH and ACCURATE.
  package func seek(to time: ClockTime) -> Bool { seek(to: time, [GST_SEEK_FLAG_ACCURATE]) }

  /// Seeks the upstream elements to the last keyframe at or before `time`, with the flag FLUSH.
  package func seek(toKeyframeBefore time: ClockTime) -> Bool {
    seek(to: time, [GST_SEEK_FLAG_KEY_UNIT, GST_SEEK_FLAG_SNAP_BEFORE])
  }

  /// Seeks with no stop position. If the stop position is left unchanged, matroskademux stops at
  /// the declared duration: the demuxer drops a last frame that begins at the declared duration
  /// (`Quirk.matroskademuxSeekEnd`), and refuses to seek beyond the declared duration.
  private func seek(to time: ClockTime, _ flags: [GstSeekFlags]) -> Bool {
    let all = flags.reduce(GST_SEEK_FLAG_FLUSH.rawValue) { $0 | $1.rawValue }
    return gst_element_seek(
      element.raw, 1.0, GST_FORMAT_TIME, GstSeekFlags(all), GST_SEEK_TYPE_SET, gint64(time.nanoseconds),
      GST_SEEK_TYPE_SET, -1) != 0
  }

  package var pad: Pad? { element.staticPad("sink") }
}
