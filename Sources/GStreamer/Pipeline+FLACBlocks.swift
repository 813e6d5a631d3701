import CGStreamer
import Synchronization

extension Pipeline {
  /// Keeps the FLAC header that flacenc rewrites at the end of the stream from reaching flacparse.
  /// flacparse would drop this header, and the last block with it (`Quirk.flacparseLastBlock`).
  package func keepLastFLACBlocks() {
    for encoder in elements(ofFactory: "flacenc") {
      encoder.entered { $0.factoryName == "flacparse" }?.dropRewrites()
    }
  }
}

extension Pad {
  /// Drops the encoder's rewritten header. To rewrite the header, the encoder first sends a
  /// GStreamer segment in BYTES format (a seek in the file). Drops this segment, and all later
  /// buffers and BYTES segments.
  fileprivate func dropRewrites() {
    let isRewriting = Atomic(false)
    let buffers = GST_PAD_PROBE_TYPE_BUFFER.rawValue
    addProbe(GstPadProbeType(buffers | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue)) { _, info in
      guard let data = info.pointee.data else { return GST_PAD_PROBE_OK }
      if info.pointee.type.rawValue & buffers != 0 {
        return isRewriting.load(ordering: .relaxed) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }
      let event = data.assumingMemoryBound(to: GstEvent.self)
      guard event.pointee.type == GST_EVENT_SEGMENT else { return GST_PAD_PROBE_OK }
      var segment = GstSegment()
      gst_event_copy_segment(event, &segment)
      guard segment.format == GST_FORMAT_BYTES else { return GST_PAD_PROBE_OK }
      isRewriting.store(true, ordering: .relaxed)
      return GST_PAD_PROBE_DROP
    }
  }
}
