import CGStreamer
package import MediaTime

/// The end of a pipeline from which a thread of ours takes samples (`GstAppSink`).
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

  /// Waits for the next sample, at the most for `timeout`; nil at the end of the stream, when the pipeline stops, and
  /// when the time is over (``isEndOfStream`` tells the first from the others).
  package func pull(timeout: ClockTime) -> Sample? {
    gst_app_sink_try_pull_sample(raw, GstClockTime(timeout.raw)).flatMap { Sample(adopting: $0) }
  }

  /// Takes and drops all samples until the stream ends, or the pipeline stops.
  package func drain() {
    while !isEndOfStream { _ = pull(timeout: ClockTime(nanoseconds: 100_000_000)) }
  }

  /// The stream ended, and everything has been pulled.
  package var isEndOfStream: Bool { gst_app_sink_is_eos(raw) != 0 }

  /// Restricts the sink to `caps`, unless its caps were set already.
  package func setDefaultCaps(_ caps: Caps) {
    if let known = gst_app_sink_get_caps(raw) {
      gst_caps_unref(known)
    } else {
      gst_app_sink_set_caps(raw, caps.raw)
    }
  }

  /// Takes buffers outside their segments too, which sinks drop otherwise: packets that only help to decode others.
  package func takeBuffersOutsideSegments() {
    gst_base_sink_set_drop_out_of_segment(
      UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GstBaseSink.self), 0)
  }

  /// Seeks the elements before this sink to `time`, exactly, and drops their buffers.
  package func seek(to time: ClockTime) -> Bool { seek(to: time, [GST_SEEK_FLAG_ACCURATE]) }

  /// Seeks the elements before this sink to the last keyframe up to `time`, and drops their buffers.
  package func seek(toKeyframeBefore time: ClockTime) -> Bool {
    seek(to: time, [GST_SEEK_FLAG_KEY_UNIT, GST_SEEK_FLAG_SNAP_BEFORE])
  }

  /// Seeks without a stop, rather than with the stop left as it was: matroskademux takes that for the
  /// duration that the file declares, drops a last frame that begins there (`Quirk.matroskademuxSeekEnd`),
  /// and complains of a `time` behind it.
  private func seek(to time: ClockTime, _ flags: [GstSeekFlags]) -> Bool {
    let all = flags.reduce(GST_SEEK_FLAG_FLUSH.rawValue) { $0 | $1.rawValue }
    return gst_element_seek(
      element.raw, 1.0, GST_FORMAT_TIME, GstSeekFlags(all), GST_SEEK_TYPE_SET, gint64(time.nanoseconds),
      GST_SEEK_TYPE_SET, -1) != 0
  }

  package var pad: Pad? { element.staticPad("sink") }
}
