import CGStreamer
import GStreamer

/// Long task that is reported to the application (`GST_MESSAGE_PROGRESS`): a start message, any
/// number of continue messages, and a final message (complete, canceled or error). Tools such as
/// gst-launch-1.0 do not start playback before the end of the task.
struct ProgressTask: @unchecked Sendable {
  // Messages may be posted from any thread.
  private let element: UnsafeMutablePointer<GstElement>
  private let code: String

  /// - Parameter code: identifies the task to applications.
  init(_ element: UnsafeMutablePointer<GstElement>, _ code: String) {
    self.element = element
    self.code = code
  }

  /// - Parameters:
  ///   - text: readable description.
  ///   - fields: additional fields of the message, for programs.
  func post(_ type: GstProgressType, _ text: String, _ fields: [String: UInt64] = [:]) {
    guard let message = gst_message_new_progress(element.asObject, type, code, text) else { return }
    let structure = gst_message_writable_structure(message)
    for (name, number) in fields {
      var value = GValue()
      g_value_init(&value, GType(11 << 2))  // G_TYPE_UINT64
      g_value_set_uint64(&value, guint64(number))
      gst_structure_take_value(structure, name, &value)
    }
    gst_element_post_message(element, message)
  }
}
