import CGStreamer
package import MediaTime
import Synchronization

extension Pad {
  /// Asks `isOver` about each buffer that comes to this sink pad, in the segment that came with it; where that says so, the stream
  /// ends here: the buffer and what follows it is dropped, and whoever pushes hears of the end (`GST_FLOW_EOS`). The pad holds
  /// `isOver`, which must not hold the pad. To be called before anything changes the segment on its way into this pad.
  package func endStream(when isOver: @escaping @Sendable (Buffer, Segment) -> Bool) {
    let segment = Mutex(Segment())
    watchSegments { new in segment.withLock { $0 = new } }
    filterBuffers { buffer, pad in
      guard isOver(buffer, segment.withLock { $0 }) else { return true }
      pad.endStream()
      return false
    }
  }

  /// Has the stream end that comes into this sink pad, unless it has ended. To be called on the thread that pushes into it.
  package func endStream() {
    guard gst_pad_get_sticky_event(raw, GST_EVENT_EOS, 0).map({ gst_mini_object_unref($0.asMiniObject) }) == nil else {
      return
    }
    gst_pad_send_event(raw, gst_event_new_eos())
  }
}

extension UnsafeMutablePointer where Pointee == GstEvent {
  fileprivate var asMiniObject: UnsafeMutablePointer<GstMiniObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstMiniObject.self)
  }
}
