import CGStreamer
import GStreamer

/// Small conversions between GStreamer's C types and the wrapper types.
extension UnsafeMutablePointer {
  var asObject: UnsafeMutablePointer<GstObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self)
  }
  var asMiniObject: UnsafeMutablePointer<GstMiniObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstMiniObject.self)
  }
}

extension UnsafeMutablePointer<GstPad> {
  /// Returns true if the element downstream of a source pad announces support for the metas of
  /// `api` in its answer to an allocation query.
  func peerSupports(_ api: GType, _ caps: Caps) -> Bool {
    guard let query = gst_query_new_allocation(caps.raw, 0) else { return false }
    defer { gst_mini_object_unref(query.asMiniObject) }
    return gst_pad_peer_query(self, query) != 0 && gst_query_find_allocation_meta(query, api, nil) != 0
  }
}

/// Value of an unknown time (GST_CLOCK_TIME_NONE).
let noTime = UInt.max

func release(_ event: UnsafeMutablePointer<GstEvent>) { gst_mini_object_unref(event.asMiniObject) }

func retain(_ event: UnsafeMutablePointer<GstEvent>) -> UnsafeMutablePointer<GstEvent> {
  gst_mini_object_ref(event.asMiniObject)
  return event
}

/// C value that GStreamer allows to move between threads: plain data, or a counted reference.
struct AnyThread<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

/// Posts an error on the bus.
func postError(
  _ element: UnsafeMutablePointer<GstElement>, _ domain: GQuark, _ code: Int32, _ message: String, debug: String,
  file: String = #fileID, function: String = #function, line: Int32 = #line
) {
  gst_element_message_full(
    element, GST_MESSAGE_ERROR, domain, code, g_strdup(message), g_strdup(debug), file, function, line)
}

/// Posts an error about a failed push downstream, as GST_ELEMENT_FLOW_ERROR does.
func postFlowError(_ element: UnsafeMutablePointer<GstElement>, _ flow: GstFlowReturn) {
  let reason = gst_flow_get_name(flow).map { String(cString: $0) } ?? "unknown"
  postError(
    element, gst_stream_error_quark(), Int32(GST_STREAM_ERROR_FAILED.rawValue), "Internal data stream error.",
    debug: "streaming stopped, reason \(reason) (\(flow.rawValue))")
}

func postMessage(_ element: UnsafeMutablePointer<GstElement>, _ structure: String) {
  guard let parsed = gst_structure_from_string(structure, nil) else { return }
  gst_element_post_message(element, gst_message_new_element(element.asObject, parsed))
}
