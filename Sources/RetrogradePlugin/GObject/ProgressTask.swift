import CGStreamer
import GStreamer

/// Something that takes its time, of which the application is told (`GST_MESSAGE_PROGRESS`): a start, then any number of
/// continuations, then one end, whichever. Tools such as gst-launch-1.0 do not play before the end.
struct ProgressTask: @unchecked Sendable {
  // Messages are posted from any thread.
  private let element: UnsafeMutablePointer<GstElement>
  private let code: String

  /// - Parameter code: by which applications know the task.
  init(_ element: UnsafeMutablePointer<GstElement>, _ code: String) {
    self.element = element
    self.code = code
  }

  /// - Parameters:
  ///   - text: for people.
  ///   - fields: for programs, added to the message's own.
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
