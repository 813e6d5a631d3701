import CGStreamer

/// Detects a file's media type from its first bytes (`gst_type_find_helper_for_data`).
package enum TypeFinder {
  /// - Parameter bytes: first bytes of the file. More bytes make the result more certain: MP3
  ///   without a tag is recognized by several consecutive frames.
  /// - Returns: media type such as `video/quicktime`; nil if no type has a probability of at least
  ///   `GST_TYPE_FIND_POSSIBLE` (50 %).
  package static func mediaType(ofFileBeginningWith bytes: [UInt8]) -> String? {
    guard (try? GStreamer.initialize()) != nil, !bytes.isEmpty else { return nil }
    var probability = GST_TYPE_FIND_NONE
    guard let caps = gst_type_find_helper_for_data(nil, bytes, gsize(bytes.count), &probability) else { return nil }
    let found = Caps(adopting: caps)
    return probability.rawValue >= GST_TYPE_FIND_POSSIBLE.rawValue ? found.mediaType : nil
  }
}
