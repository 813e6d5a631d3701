package import CGStreamer

/// GStreamer debug category. Its messages are logged if `GST_DEBUG` enables the category, as in
/// `GST_DEBUG=retrograde*:5`. Message texts are built only if their level is enabled.
package struct DebugCategory: @unchecked Sendable {
  // A GstDebugCategory is created once and lives as long as the process.
  private let raw: UnsafeMutablePointer<GstDebugCategory>?

  package enum Level: Sendable {
    /// A problem for which there is a workaround.
    case warning
    /// A decision and its reason.
    case info
    /// A single step of the work.
    case debug

    fileprivate var raw: GstDebugLevel {
      switch self {
      case .warning: GST_LEVEL_WARNING
      case .info: GST_LEVEL_INFO
      case .debug: GST_LEVEL_DEBUG
      }
    }
  }

  package init(_ name: String, _ description: String) {
    // GStreamer reads GST_DEBUG when it is initialized, so initialize GStreamer first.
    try? GStreamer.initialize()
    raw = _gst_debug_category_new(name, 0, description)
  }

  package func warning(
    _ text: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int32 = #line
  ) {
    write(.warning, text(), file: file, function: function, line: line)
  }

  package func info(
    _ text: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int32 = #line
  ) {
    write(.info, text(), file: file, function: function, line: line)
  }

  package func debug(
    _ text: @autoclosure () -> String, file: String = #fileID, function: String = #function, line: Int32 = #line
  ) {
    write(.debug, text(), file: file, function: function, line: line)
  }

  /// - Parameter element: source of the message, if any.
  package func write(
    _ level: Level, _ text: @autoclosure () -> String, about element: UnsafeMutablePointer<GstElement>? = nil,
    file: String = #fileID, function: String = #function, line: Int32 = #line
  ) {
    guard let raw, gst_debug_category_get_threshold(raw).rawValue >= level.raw.rawValue else { return }
    let object = element.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self) }
    gst_debug_log_literal(raw, level.raw, file, function, line, object, text().replacing("\n", with: " "))
  }
}
