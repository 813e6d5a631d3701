import CGStreamer
import GStreamer

/// GObject type of reversesrc.
extension ReverseSource {
  static let type: GType = {
    let type = ElementType.register(
      "RetrogradeReverseSrc",
      classInit: { pointer, _ in
        guard let klass = ElementClass(pointer) else { return }
        klass.describe(
          name: "Reverse source", klass: "Source/File/Video/Audio",
          description:
            "Plays a file of video and audio backwards, or in any order of play, as raw streams, in memory that "
            + "does not grow with the file. A seek to any position decodes one window")
        klass.addPad("video_%u", GST_PAD_SRC, GST_PAD_SOMETIMES, "video/x-raw")
        klass.addPad("audio_%u", GST_PAD_SRC, GST_PAD_SOMETIMES, "audio/x-raw")
        SourceSettings.install(klass)
        klass.raw.pointee.send_event = { element, event in
          guard let event, let source = ElementType.body(of: element) as? ReverseSource else { return 0 }
          if let handled = source.sendEvent(event) { return handled }
          let parent = g_type_class_peek(gst_element_get_type())?.assumingMemoryBound(to: GstElementClass.self)
          return parent?.pointee.send_event?(element, event) ?? 0
        }
      },
      instanceInit: { instance, _ in if let instance { ElementType.attach(ReverseSource.self, to: instance) } })
    var handler = GInterfaceInfo()
    handler.interface_init = { pointer, _ in
      guard let handler = pointer?.assumingMemoryBound(to: GstURIHandlerInterface.self) else { return }
      handler.pointee.get_type = { _ in GST_URI_SRC }
      handler.pointee.get_protocols = { _ in ReverseSource.protocols }
      handler.pointee.get_uri = { handler in
        let source = ElementType.body(of: handler.map { UnsafeMutableRawPointer($0) }) as? ReverseSource
        return source?.settings.uri.flatMap { g_strdup($0) }
      }
      handler.pointee.set_uri = { handler, uri, error in
        guard let source = ElementType.body(of: handler.map { UnsafeMutableRawPointer($0) }) as? ReverseSource else {
          return 0
        }
        guard source.element.pointee.current_state.rawValue < GST_STATE_PAUSED.rawValue else {
          g_set_error_literal(
            error, gst_uri_error_quark(), gint(GST_URI_ERROR_BAD_STATE.rawValue),
            "The URI can't change during playback")
          return 0
        }
        source.setURI(uri.map { String(cString: $0) })
        return 1
      }
    }
    g_type_add_interface_static(type, gst_uri_handler_get_type(), &handler)
    return type
  }()

  /// Names of the URI schemes, as a C array that is never freed: GStreamer keeps the array for the
  /// life of the process.
  nonisolated(unsafe) private static let protocols: UnsafePointer<UnsafePointer<gchar>?> = {
    let list = UnsafeMutablePointer<UnsafePointer<gchar>?>.allocate(capacity: SourceSettings.schemes.count + 1)
    for (index, scheme) in SourceSettings.schemes.enumerated() { list[index] = UnsafePointer(g_strdup(scheme.name)) }
    list[SourceSettings.schemes.count] = nil
    return UnsafePointer(list)
  }()
}
