import CGStreamer
package import MediaTime

/// A message from a pipeline's bus, as a Swift value.
package enum BusMessage: Sendable {
  case endOfStream
  case failed(GStreamerError)
  case warning(GStreamerError)
  /// An element that the pipeline needs, such as a decoder or demuxer, is not installed.
  case missingPlugin(MissingPlugin)
  case tags(TagList)
  /// A key was pressed in a video sink's window. Contains the key's X11 name.
  case key(String)
  /// Result of the GStreamer element `spectrum`: level of each frequency band in dB, for a range of
  /// audio that begins at the stream time `start`.
  case spectrum(start: ClockTime, decibels: [Float])
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
      if let key = BusMessage.key(message) {
        self = .key(key)
      } else if let (start, decibels) = BusMessage.spectrum(message) {
        self = .spectrum(start: start, decibels: decibels)
      } else if gst_is_missing_plugin_message(message) != 0 {
        self = .missingPlugin(MissingPlugin(message))
      } else {
        self = .other
      }
    }
  }

  private static func spectrum(_ message: UnsafeMutablePointer<GstMessage>) -> (ClockTime, [Float])? {
    guard message.pointee.type == GST_MESSAGE_ELEMENT, let structure = gst_message_get_structure(message),
      gst_structure_has_name(structure, "spectrum") != 0, let list = gst_structure_get_value(structure, "magnitude"),
      // With `multi-channel`, the magnitude is an array of lists, which is not supported here.
      g_type_check_value_holds(list, gst_value_list_get_type()) != 0
    else { return nil }
    var start = GstClockTime(0)
    guard gst_structure_get_clock_time(structure, "stream-time", &start) != 0 else { return nil }
    let decibels = (0..<gst_value_list_get_size(list)).map { g_value_get_float(gst_value_list_get_value(list, $0)) }
    return (ClockTime(nanoseconds: Int64(clamping: start)), decibels)
  }

  private static func key(_ message: UnsafeMutablePointer<GstMessage>) -> String? {
    guard gst_navigation_message_get_type(message) == GST_NAVIGATION_MESSAGE_EVENT else { return nil }
    var event: UnsafeMutablePointer<GstEvent>?
    guard gst_navigation_message_parse_event(message, &event) != 0, let event else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(event).assumingMemoryBound(to: GstMiniObject.self)) }
    var key: UnsafePointer<gchar>?
    guard gst_navigation_event_get_type(event) == GST_NAVIGATION_EVENT_KEY_PRESS,
      gst_navigation_event_parse_key_event(event, &key) != 0
    else { return nil }
    return key.map { String(cString: $0) }
  }
}

/// Plugin that is not installed, and the media that it would read.
package struct MissingPlugin: Sendable, Hashable {
  /// Readable name, such as `H.264 decoder`.
  package let description: String
  /// Media type that the plugin would decode, such as `video/x-h264`; nil if the missing element is
  /// not a decoder, demuxer or parser.
  package let mediaType: String?

  /// Describes a missing decoder for `caps`.
  package init(decoderOf caps: Caps) {
    mediaType = caps.mediaType
    description = MissingPlugin.description(of: mediaType) ?? "\(caps.codecName) decoder"
  }

  /// Describes the parser that is missing for a stream with `caps`: no installed parser accepts
  /// these caps.
  package init(parserOf caps: Caps) {
    mediaType = caps.mediaType
    description = "this variant of \(caps.codecName)"
  }

  /// - Parameter message: a message for which `gst_is_missing_plugin_message` is true.
  fileprivate init(_ message: UnsafeMutablePointer<GstMessage>) {
    let given = takeString(gst_missing_plugin_message_get_description(message)) ?? "a plugin"
    // The detail has the form "gstreamer|1.0|program|description|decoder-video/x-h264, …".
    let detail = takeString(gst_missing_plugin_message_get_installer_detail(message))?.split(separator: "|").last
    mediaType = detail.flatMap { detail in
      guard detail.hasPrefix("decoder-") else { return nil }
      return detail.dropFirst(8).split(separator: ",").first.map(String.init)
    }
    description = MissingPlugin.description(of: mediaType) ?? given
  }

  /// Returns the description of a decoder for a codec that qtdemux does not know. The media type of
  /// such a codec has the form `video/x-gst-fourcc-AVdh`; nil for other types.
  private static func description(of mediaType: String?) -> String? {
    let code = mediaType?.split(separator: "-fourcc-").dropFirst().first
    return code.map { "a decoder of \(names[$0] ?? "a codec") (\($0))" }
  }

  /// Names of codecs in MOV that qtdemux does not know, by FourCC.
  private static let names: [Substring: String] = [
    "AVdh": "DNxHR", "CFHD": "CineForm", "icod": "Apple Intermediate Codec",
  ]
}
