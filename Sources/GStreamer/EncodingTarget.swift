import CGStreamer
import Paths

/// GStreamer encoding target (`GstEncodingTarget`). The target's file may contain an additional
/// section that GStreamer ignores. This type reads that section too.
package struct EncodingTarget: Sendable {
  package var name: String
  package var description: String
  /// Video format of the target, as caps; nil if not specified.
  package var video: String?
  package var audio: String?
  /// Keys and values in the section that GStreamer ignores.
  private let values: [String: String]

  /// - Parameter group: name of the section that GStreamer ignores.
  /// - Throws: ``GStreamerError`` with GStreamer's message about the file.
  package init(file path: String, group: String) throws {
    try GStreamer.initialize()
    var error: UnsafeMutablePointer<GError>?
    func failure() -> GStreamerError {
      defer { g_clear_error(&error) }
      let reason = error.map { String(cString: $0.pointee.message) } ?? "it is not an encoding target"
      return GStreamerError(kind: .other, element: nil, message: reason, debug: nil)
    }
    guard let target = gst_encoding_target_load_from_file(path.cPath, &error) else { throw failure() }
    defer { g_object_unref(UnsafeMutableRawPointer(target)) }
    name = gst_encoding_target_get_name(target).map { String(cString: $0) } ?? ""
    description = gst_encoding_target_get_description(target).map { String(cString: $0) } ?? ""
    var profile: UnsafePointer<GList>? = gst_encoding_target_get_profiles(target)
    while let item = profile {
      if let container = item.pointee.data.map({ OpaquePointer($0) }) {
        var stream: UnsafePointer<GList>? = gst_encoding_container_profile_get_profiles(container)
        while let part = stream {
          if let own = part.pointee.data.map({ OpaquePointer($0) }), let format = gst_encoding_profile_get_format(own) {
            let caps = Caps(adopting: format)
            if caps.mediaType.hasPrefix("audio/") { audio = caps.description } else { video = caps.description }
          }
          stream = UnsafePointer(part.pointee.next)
        }
      }
      profile = UnsafePointer(item.pointee.next)
    }
    guard let keys = g_key_file_new() else { throw failure() }
    defer { g_key_file_free(keys) }
    guard g_key_file_load_from_file(keys, path.cPath, G_KEY_FILE_NONE, &error) != 0 else { throw failure() }
    var values: [String: String] = [:]
    var count: gsize = 0
    if let names = g_key_file_get_keys(keys, group, &count, nil) {
      for index in 0..<Int(count) {
        guard let key = names[index], let text = g_key_file_get_string(keys, group, key, nil) else { continue }
        values[String(cString: key)] = String(cString: text)
        g_free(text)
      }
      g_strfreev(names)
    }
    self.values = values
  }

  /// Keys in the section that GStreamer ignores, sorted.
  package var keys: [String] { values.keys.sorted() }

  package subscript(key: String) -> String? { values[key] }
}
