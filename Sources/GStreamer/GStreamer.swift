import CGStreamer
// MediaTime declares `ClockTime`, the type of a buffer's times.
import MediaTime
import Paths

/// GStreamer library of this process.
package enum GStreamer {
  /// Error of `gst_init_check`; nil if GStreamer was initialized. Evaluated once, on first use.
  private static let initialized: String? = {
    var error: UnsafeMutablePointer<GError>?
    guard gst_init_check(nil, nil, &error) != 0 else {
      defer { g_clear_error(&error) }
      return error.flatMap { $0.pointee.message }.map { String(cString: $0) } ?? "unknown error"
    }
    return nil
  }()

  /// Initializes GStreamer on the first call.
  /// - Throws: ``GStreamerError`` if the initialization fails.
  package static func initialize() throws(GStreamerError) {
    if let reason = initialized {
      throw GStreamerError(kind: .other, element: nil, message: "GStreamer can't start: \(reason)", debug: nil)
    }
  }

  /// GStreamer's version string, such as `GStreamer 1.22.0`.
  package static var version: String {
    _ = initialized
    guard let text = gst_version_string() else { return "GStreamer" }
    defer { g_free(text) }
    return String(cString: text)
  }
}

extension GStreamer {
  /// Seeds GLib's random number generator, from which muxers take track and file identifiers. All
  /// GStreamer threads of the process share one generator.
  package static func seed(_ seed: UInt32) { g_random_set_seed(seed) }

  /// Parses text that `gst_value_serialize` quoted; nil if invalid.
  package static func unquoted(_ text: String) -> String? {
    guard (try? initialize()) != nil else { return nil }
    var value = GValue()
    g_value_init(&value, FundamentalType.string)
    defer { g_value_unset(&value) }
    guard gst_value_deserialize(&value, text) != 0 else { return nil }
    return g_value_get_string(&value).map { String(cString: $0) }
  }

  /// Returns the URI of a local file, whose name may contain any bytes (`gst_filename_to_uri`).
  package static func uri(ofFile path: String) throws -> String {
    try initialize()
    var error: UnsafeMutablePointer<GError>?
    guard let uri = takeString(gst_filename_to_uri(path.cPath, &error)) else {
      throw GStreamerError(adopting: error, element: nil, debug: nil)
    }
    return uri
  }
}

/// Converts a path that C allocated, and frees the C string.
func takePath(_ path: UnsafeMutablePointer<CChar>?) -> String? {
  guard let path else { return nil }
  defer { g_free(path) }
  return String(cPath: path)
}

/// Converts a string that C allocated, and frees the C string.
func takeString(_ text: UnsafeMutablePointer<CChar>?) -> String? {
  guard let text else { return nil }
  defer { g_free(text) }
  return String(cString: text)
}
