import CGStreamer

/// Finds the type of a file by its first bytes (`gst_type_find_helper_for_data`).
package enum TypeFinder {
  /// - Parameter bytes: the more, the surer: MP3 without a tag is known by a row of its frames.
  /// - Returns: the media type, such as `video/quicktime`; nil where GStreamer knows none that is at least as likely as not.
  package static func mediaType(ofFileBeginningWith bytes: [UInt8]) -> String? {
    guard (try? GStreamer.initialize()) != nil, !bytes.isEmpty else { return nil }
    var probability = GST_TYPE_FIND_NONE
    guard let caps = gst_type_find_helper_for_data(nil, bytes, gsize(bytes.count), &probability) else { return nil }
    let found = Caps(adopting: caps)
    return probability.rawValue >= GST_TYPE_FIND_POSSIBLE.rawValue ? found.mediaType : nil
  }
}
