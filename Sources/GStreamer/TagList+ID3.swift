import CGStreamer

extension TagList {
  /// The list with comments and the language as ID3v2.4 frames, which id3v2mux writes unchanged:
  /// `COMM`, `TXXX` for comments with a name (`Quirk.id3v2muxComments`), and `TLAN`, which id3v2mux
  /// does not write itself (1.22 to 1.28).
  package var withCommentFrames: TagList {
    let own = strings(GST_TAG_COMMENT).enumerated().map { number, text in
      // Comments with equal descriptions would replace each other, so number them.
      TagList.frame("COMM", Array("XXX".utf8) + Array((number == 0 ? "" : "c\(number)").utf8) + [0] + Array(text.utf8))
    }
    let named = strings(GST_TAG_EXTENDED_COMMENT).map { comment in
      let parts = comment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let (name, text) = parts.count == 2 ? (parts[0], parts[1]) : ("", comment[...])
      return TagList.frame("TXXX", Array(name.utf8) + [0] + Array(text.utf8))
    }
    let languages = strings(GST_TAG_LANGUAGE_CODE).map {
      TagList.frame("TLAN", Array(TagList.longLanguage($0).utf8))
    }
    guard !own.isEmpty || !named.isEmpty || !languages.isEmpty, gst_tag_exists(TagList.frameTag) != 0,
      let caps = Caps("application/x-gst-id3v2-frame,version=(int)4")
    else { return self }
    let list = removing([GST_TAG_COMMENT, GST_TAG_EXTENDED_COMMENT])
    for bytes in own + named + languages {
      guard let buffer = try? Buffer(size: bytes.count, fill: { $0.copyBytes(from: bytes) }),
        let sample = gst_sample_new(buffer.raw, caps.raw, nil, nil)
      else { continue }
      var value = GValue()
      g_value_init(&value, gst_sample_get_type())
      g_value_take_boxed(&value, UnsafeMutableRawPointer(sample))
      gst_tag_list_add_value(list.raw, GST_TAG_MERGE_APPEND, TagList.frameTag, &value)
      g_value_unset(&value)
    }
    return list
  }

  private static let frameTag = "private-id3v2-frame"

  /// Creates a frame with UTF-8 text (ID3v2.4.0, "Main Structure", 4).
  private static func frame(_ name: String, _ text: [UInt8]) -> [UInt8] {
    let size = text.count + 1
    return Array(name.utf8) + (0..<4).reversed().map { UInt8(size >> (7 * $0) & 0x7F) } + [0, 0, 3] + text
  }
}
