import CGStreamer

/// Error of a GStreamer element or function.
public struct GStreamerError: Error, Sendable, CustomStringConvertible {
  /// Kinds of error that a program may react to.
  public enum Kind: Sendable, Equatable {
    /// A plugin or element is not installed (`GST_CORE_ERROR_MISSING_PLUGIN`,
    /// `GST_STREAM_ERROR_CODEC_NOT_FOUND`).
    case missingPlugin
    /// The input is not readable as media.
    case notMedia
    /// No space left on the file system (`GST_RESOURCE_ERROR_NO_SPACE_LEFT`).
    case noSpace
    /// Reading or writing failed.
    case inputOutput
    /// A property refused a value.
    case refusedValue
    case other
  }

  public let kind: Kind
  /// Factory name of the element that failed, such as `qtdemux`.
  public let element: String?
  public let message: String
  public let debug: String?

  public var description: String {
    element.map { "\($0): \(cause)" } ?? cause
  }

  /// Reason in words: the message, or the debug detail if the message is generic, such as
  /// GStreamer's `Internal data stream error`.
  package var cause: String {
    let general = ["Internal data", "Could not multiplex stream"]
    guard general.contains(where: message.hasPrefix), let detail = debug?.split(separator: "\n").last,
      detail != debug ?? ""
    else {
      return message
    }
    return String(detail)
  }

  /// Creates an error for a failure for which GStreamer supplies no `GError`.
  package init(kind: Kind, element: String?, message: String, debug: String?) {
    self.kind = kind
    self.element = element
    self.message = message
    self.debug = debug
  }

  /// Takes ownership of `error` and frees it.
  init(adopting error: UnsafeMutablePointer<GError>?, element: String?, debug: String?) {
    self.element = element
    self.debug = debug
    guard let error else {
      kind = .other
      message = "unknown error"
      return
    }
    message = String(cString: error.pointee.message)
    let code = Int(error.pointee.code)
    let domain = error.pointee.domain
    if domain == gst_core_error_quark(), code == Int(GST_CORE_ERROR_MISSING_PLUGIN.rawValue) {
      kind = .missingPlugin
    } else if domain == gst_parse_error_quark(), code == Int(GST_PARSE_ERROR_NO_SUCH_ELEMENT.rawValue) {
      kind = .missingPlugin
    } else if domain == gst_parse_error_quark(),
      [GST_PARSE_ERROR_NO_SUCH_PROPERTY, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY].contains(where: {
        Int($0.rawValue) == code
      })
    {
      kind = .refusedValue
    } else if domain == gst_stream_error_quark() {
      kind = code == Int(GST_STREAM_ERROR_CODEC_NOT_FOUND.rawValue) ? .missingPlugin : .notMedia
    } else if domain == gst_resource_error_quark() {
      kind = code == Int(GST_RESOURCE_ERROR_NO_SPACE_LEFT.rawValue) ? .noSpace : .inputOutput
    } else {
      kind = .other
    }
    g_error_free(error)
  }
}
