import CGStreamer
package import MediaTime
import Synchronization

/// Effect of a buffer on its stream.
package enum StreamProgress: Sendable {
  case goesOn
  /// It ends before this buffer.
  case ends
  /// All wanted streams have ended; stop the demuxer.
  case allHaveEnded
}

extension Pad {
  /// Asks `progress` about each buffer that comes to this sink pad, in the segment that came with it. Where
  /// the stream ends, the buffer and the following ones are dropped, and the pusher gets the end
  /// (`GST_FLOW_EOS`). The pad holds `progress`, which must not hold the pad. To be called before anything
  /// changes the segment on its way into this pad.
  ///
  /// When all have ended, the pusher is to stop (`GST_FLOW_FLUSHING`) until the next seek: qtdemux takes no
  /// notice of `GST_FLOW_EOS` from all of its streams (`Quirk.qtdemuxUnwantedStreams`).
  package func endStream(when progress: @escaping @Sendable (Buffer, Segment) -> StreamProgress) {
    let segment = Mutex(Segment())
    watchSegments { new in segment.withLock { $0 = new } }
    addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      let buffer = data.assumingMemoryBound(to: GstBuffer.self)
      let found = progress(Buffer(retaining: buffer), segment.withLock { $0 })
      guard found != .goesOn else { return GST_PAD_PROBE_OK }
      pad.endStream()
      guard found == .allHaveEnded else { return GST_PAD_PROBE_DROP }
      info.pointee.ABI.abi.flow_ret = GST_FLOW_FLUSHING
      gst_mini_object_unref(data.assumingMemoryBound(to: GstMiniObject.self))
      return GST_PAD_PROBE_HANDLED
    }
  }

  /// Tells `body` that a seek has flushed this pad: buffers from now on are of the new place.
  package func onFlush(_ body: @escaping @Sendable () -> Void) {
    addProbe(GST_PAD_PROBE_TYPE_EVENT_FLUSH) { _, info in
      let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
      if event?.pointee.type == GST_EVENT_FLUSH_STOP { body() }
      return GST_PAD_PROBE_OK
    }
  }

  /// Ends the stream that comes into this sink pad, unless it has ended. To be called on the thread that
  /// pushes into it.
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
