import CGStreamer
import MediaTime

/// The start of a pipeline into which a thread of ours puts buffers (`GstAppSrc`).
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

  /// Sets the field order of the next buffers to that of `frames`, which changes with the direction.
  /// The other fields stay: muxers refuse a change of the frame rate, which is the output's.
  package func setFieldOrder(of frames: Caps) {
    guard let caps = gst_app_src_get_caps(raw).map({ Caps(adopting: $0) }),
      let order = frames.string("field-order"), let set = caps.string("field-order"), set != order
    else { return }
    setCaps(caps.setting("field-order", order))
  }

  /// Gives `buffer` to the pipeline, and waits while its queue is full.
  /// - Returns: false when the pipeline no longer takes any: it was stopped, or failed (its bus says why).
  package func push(_ buffer: Buffer) -> Bool {
    gst_app_src_push_buffer(raw, gst_buffer_ref(buffer.raw)) == GST_FLOW_OK
  }

  /// Ends the stream.
  package func endOfStream() { gst_app_src_end_of_stream(raw) }

  /// Makes the source ask for its buffers. It must be seekable (`stream-type=seekable`); both bodies are
  /// called on threads of GStreamer, and are held until the element is gone.
  /// - Parameters:
  ///   - need: gives at least one buffer, or ends the stream; called whenever none is left.
  ///   - seek: told that the next buffer follows a flush.
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
