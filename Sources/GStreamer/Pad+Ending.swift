import CGStreamer
package import MediaTime
import Synchronization

/// Effect of a buffer on its stream.
package enum StreamProgress: Sendable {
  case continues
  /// The stream ends before this buffer.
  case ends
  /// All wanted streams have ended; stop the demuxer.
  case allHaveEnded
}

extension Pad {
  /// Calls `progress` for each buffer that reaches this sink pad, with the buffer's GStreamer
  /// segment. If the stream ends before a buffer, this buffer and all later ones are dropped, and
  /// the upstream element gets `GST_FLOW_EOS`. The pad retains `progress`, which must not retain
  /// the pad. Must be called before this pad gets pad probes that change GStreamer segments.
  ///
  /// Once all streams have ended, the upstream element gets `GST_FLOW_FLUSHING` until the next
  /// seek, because qtdemux continues after `GST_FLOW_EOS` from all linked streams
  /// (`Quirk.qtdemuxUnwantedStreams`).
  package func endStream(when progress: @escaping @Sendable (Buffer, Segment) -> StreamProgress) {
    let segment = Mutex(Segment())
    watchSegments { new in segment.withLock { $0 = new } }
    addProbe(GST_PAD_PROBE_TYPE_BUFFER) { pad, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      let buffer = data.assumingMemoryBound(to: GstBuffer.self)
      let found = progress(Buffer(retaining: buffer), segment.withLock { $0 })
      guard found != .continues else { return GST_PAD_PROBE_OK }
      pad.endStream()
      guard found == .allHaveEnded else { return GST_PAD_PROBE_DROP }
      info.pointee.ABI.abi.flow_ret = GST_FLOW_FLUSHING
      gst_mini_object_unref(data.assumingMemoryBound(to: GstMiniObject.self))
      return GST_PAD_PROBE_HANDLED
    }
  }

  /// Calls `body` after a seek has flushed this pad. Buffers after this call are from the new
  /// position.
  package func onFlush(_ body: @escaping @Sendable () -> Void) {
    addProbe(GST_PAD_PROBE_TYPE_EVENT_FLUSH) { _, info in
      let event = info.pointee.data?.assumingMemoryBound(to: GstEvent.self)
      if event?.pointee.type == GST_EVENT_FLUSH_STOP { body() }
      return GST_PAD_PROBE_OK
    }
  }

  /// Sends EOS to this sink pad, unless its stream has ended already. Must be called on the thread
  /// that pushes to the pad.
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
