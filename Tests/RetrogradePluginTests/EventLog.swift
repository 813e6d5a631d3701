import CGStreamer
import GStreamer
import Synchronization
import Testing

extension Pipeline {
  /// Returns a static pad of an element of this pipeline. The caller does not own a reference to
  /// the pad.
  func pad(_ element: String, _ name: String) throws -> UnsafeMutablePointer<GstPad> {
    let owner = try #require(self.element(element))
    let pad = try #require(gst_element_get_static_pad(owner.raw, name))
    gst_object_unref(pad)
    return pad
  }
}

/// Log of the downstream events that pass a pad.
final class EventLog: Sendable {
  struct Entry: Sendable {
    var type: GstEventType
    var number: UInt32
    /// Multiplier of an instant rate change.
    var multiplier: Double?
    /// Base of a GStreamer segment: the running time at which the segment starts.
    var base: UInt64?
  }

  private let entries = Mutex<[Entry]>([])

  init(_ pad: UnsafeMutablePointer<GstPad>) {
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, data in
        guard let data, let event = info.flatMap({ gst_pad_probe_info_get_event($0) }) else { return GST_PAD_PROBE_OK }
        var multiplier: Double?
        if event.pointee.type == GST_EVENT_INSTANT_RATE_CHANGE {
          var factor = 0.0
          gst_event_parse_instant_rate_change(event, &factor, nil)
          multiplier = factor
        }
        var base: UInt64?
        if event.pointee.type == GST_EVENT_SEGMENT {
          var segment = GstSegment()
          gst_event_copy_segment(event, &segment)
          base = UInt64(segment.base)
        }
        let entry = Entry(
          type: event.pointee.type, number: gst_event_get_seqnum(event), multiplier: multiplier, base: base)
        Unmanaged<EventLog>.fromOpaque(data).takeUnretainedValue().entries.withLock { $0.append(entry) }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque()
    ) { data in
      if let data { Unmanaged<EventLog>.fromOpaque(data).release() }
    }
  }

  func all(_ type: GstEventType) -> [Entry] { entries.withLock { $0.filter { $0.type == type } } }
}
