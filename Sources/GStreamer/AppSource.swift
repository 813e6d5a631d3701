import CGStreamer
import MediaTime

/// Pipeline start into which the program pushes buffers (`GstAppSrc`).
package final class AppSource: @unchecked Sendable {
  // Pushing to an appsrc is MT safe.
  private let element: Element
  private var raw: UnsafeMutablePointer<GstAppSrc> {
    UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GstAppSrc.self)
  }

  init?(_ element: Element) {
    guard
      g_type_check_instance_is_a(
        UnsafeMutableRawPointer(element.raw).assumingMemoryBound(to: GTypeInstance.self), gst_app_src_get_type()) != 0
    else { return nil }
    self.element = element
  }

  package func setCaps(_ caps: Caps) { gst_app_src_set_caps(raw, caps.raw) }

  /// Sets `field-order` in the caps of the following buffers to the value in `frames`, because
  /// reversal changes the order of the fields. The other caps fields stay unchanged: `framerate`,
  /// for example, is the output's rate, and muxers refuse any other rate.
  package func setFieldOrder(of frames: Caps) {
    guard let caps = gst_app_src_get_caps(raw).map({ Caps(adopting: $0) }),
      let order = frames.string("field-order"), let set = caps.string("field-order"), set != order
    else { return }
    setCaps(caps.setting("field-order", order))
  }

  /// Pushes `buffer`; blocks while the queue is full.
  /// - Returns: false if the pipeline was stopped or has failed. After a failure, the pipeline's
  ///   bus has the error.
  package func push(_ buffer: Buffer) -> Bool {
    gst_app_src_push_buffer(raw, gst_buffer_ref(buffer.raw)) == GST_FLOW_OK
  }

  /// Ends the stream.
  package func endOfStream() { gst_app_src_end_of_stream(raw) }

  /// Makes this appsrc request its buffers. The appsrc must be seekable (`stream-type=seekable`).
  /// GStreamer threads call the closures, which the appsrc retains.
  /// - Parameters:
  ///   - need: pushes at least one buffer, or ends the stream; called whenever the queue is empty.
  ///   - seek: called on a seek; the next pushed buffer comes after the flush.
  package func onDemand(need: @escaping @Sendable () -> Void, seek: @escaping @Sendable () -> Void) {
    final class Demand: Sendable {
      let need: @Sendable () -> Void
      let seek: @Sendable () -> Void
      init(need: @escaping @Sendable () -> Void, seek: @escaping @Sendable () -> Void) {
        (self.need, self.seek) = (need, seek)
      }
      static func of(_ data: gpointer?) -> Demand? {
        data.map { Unmanaged<Demand>.fromOpaque($0).takeUnretainedValue() }
      }
    }
    var callbacks = GstAppSrcCallbacks()
    callbacks.need_data = { _, _, data in Demand.of(data)?.need() }
    callbacks.seek_data = { _, _, data in
      Demand.of(data)?.seek()
      return 1
    }
    gst_app_src_set_callbacks(raw, &callbacks, Unmanaged.passRetained(Demand(need: need, seek: seek)).toOpaque()) {
      data in data.map { Unmanaged<AnyObject>.fromOpaque($0).release() }
    }
  }
}
