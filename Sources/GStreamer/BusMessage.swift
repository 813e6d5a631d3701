import CGStreamer

/// A message from a pipeline's bus, as a Swift value.
public enum BusMessage: Sendable {
  case endOfStream
  case failed(GStreamerError)
  case warning(GStreamerError)
  /// A decoder or demuxer is not installed: what is missing, for people.
  case missingPlugin(description: String)
  case tags(TagList)
  case other

  init(_ message: UnsafeMutablePointer<GstMessage>) {
    let source = message.pointee.src.flatMap { object -> String? in
      guard
        g_type_check_instance_is_a(
          UnsafeMutableRawPointer(object).assumingMemoryBound(to: GTypeInstance.self), gst_element_get_type()) != 0
      else { return nil }
      return Element.factoryName(of: UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self))
    }
    switch message.pointee.type {
    case GST_MESSAGE_EOS:
      self = .endOfStream
    case GST_MESSAGE_ERROR, GST_MESSAGE_WARNING:
      var error: UnsafeMutablePointer<GError>?
      var debug: UnsafeMutablePointer<gchar>?
      let isError = message.pointee.type == GST_MESSAGE_ERROR
      if isError {
        gst_message_parse_error(message, &error, &debug)
      } else {
        gst_message_parse_warning(message, &error, &debug)
      }
      let failure = GStreamerError(adopting: error, element: source, debug: takeString(debug))
      self = isError ? .failed(failure) : .warning(failure)
    case GST_MESSAGE_TAG:
      var list: UnsafeMutablePointer<GstTagList>?
      gst_message_parse_tag(message, &list)
      self = list.map { .tags(TagList(adopting: $0)) } ?? .other
    default:
      if gst_is_missing_plugin_message(message) != 0 {
        let description = takeString(gst_missing_plugin_message_get_description(message))
        self = .missingPlugin(description: description ?? "a plugin")
      } else {
        self = .other
      }
    }
  }
}
