import CGStreamer
import Paths

extension Element {
  /// Properties whose value is a path or a path pattern.
  private static let paths: Set = ["location", "playlist-location", "spool-dir"]

  static func isPath(_ property: String) -> Bool { paths.contains(property) }

  /// Sets a property to the raw bytes of a path, because text in `gst-launch-1.0` syntax must be
  /// UTF-8 (`gst_value_deserialize_string`).
  func setPath(_ property: String, _ path: String) {
    var value = GValue()
    g_value_init(&value, FundamentalType.string)
    defer { g_value_unset(&value) }
    g_value_set_string(&value, path.cPath)
    g_object_set_property(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property, &value)
  }

  /// Restores the raw bytes of each path property that a pipeline description set: in the
  /// description, special characters stand for bytes that are not UTF-8.
  func setDescribedPaths() {
    for property in Element.paths {
      if let path = text(of: property, { String(cString: $0) }), path.hasRawBytes { setPath(property, path) }
    }
  }
}
