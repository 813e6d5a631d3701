import CGStreamer

extension TagList {
  /// Creates a list from names and texts. A name is the name of a Vorbis comment, or GStreamer's
  /// own name of a tag (see ``tag(named:)``). Tags with unknown names become `extended-comment`.
  /// nil if `tags` is empty.
  package convenience init?(named tags: [(name: String, text: String)]) {
    guard !tags.isEmpty, (try? GStreamer.initialize()) != nil, let raw = gst_tag_list_new_empty() else { return nil }
    for (name, text) in tags {
      if gst_tag_from_vorbis_tag(name) == nil, let tag = TagList.tag(named: name), let value = TagList.value(tag, text),
        let list = TagList("taglist, \(tag)=\(value)")
      {
        gst_tag_list_insert(raw, list.raw, GST_TAG_MERGE_APPEND)
      } else {
        gst_vorbis_tag_add(raw, name.replacing("=", with: "-"), text)
      }
    }
    self.init(adopting: raw)
  }

  /// Matroska's name of the performer. matroskademux knows only a misspelling of this name.
  package static let matroskaPerformer = "LEAD_PERFORMER"

  /// Returns GStreamer's tag for `name`, which is either the name of a Vorbis comment, or
  /// GStreamer's own name of the tag with `_` in place of `-`; nil if no such tag exists, or its
  /// values are neither text nor numbers.
  package static func tag(named name: String) -> String? {
    guard (try? GStreamer.initialize()) != nil else { return nil }
    if name.uppercased() == matroskaPerformer { return GST_TAG_PERFORMER }
    if let listed = gst_tag_from_vorbis_tag(name) { return String(cString: listed) }
    let own = name.lowercased().replacing("_", with: "-")
    guard own.utf8.allSatisfy({ (0x2D...0x7A).contains($0) }), gst_tag_exists(own) != 0, value(own, "0") != nil else {
      return nil
    }
    return own
  }

  /// Converts `text` to a value of a tag, in GStreamer's syntax; nil if the tag is neither text nor
  /// a number, or `text` is not a valid value.
  fileprivate static func value(_ tag: String, _ text: String) -> String? {
    switch gst_tag_get_type(tag) {
    case FundamentalType.string: "(string)\(Description.quoted(text))"
    case FundamentalType.uint: UInt32(text).map { "(uint)\($0)" }
    case FundamentalType.double: Double(text).map { "(double)\($0)" }
    default: nil
    }
  }

  /// Returns the values of a tag as `NAME=text` comments; nil if the values have no text form.
  package func comments(of tag: String) -> [String]? {
    if tag == GST_TAG_EXTENDED_COMMENT { return strings(tag) }
    let own = tag.uppercased().replacing("-", with: "_")
    return texts(of: tag)?.map { text in
      // Keep GStreamer's own tag names in two cases. For the URI of a license, GStreamer uses the
      // comment name LICENSE, which other programs use for the license itself. For the name of a
      // place, GStreamer uses a comment name under which other programs expect coordinates, so only
      // text that looks like coordinates gets that name.
      let isPlain =
        tag == GST_TAG_GEO_LOCATION_NAME ? text.hasPrefix("+") || text.hasPrefix("-") : tag != GST_TAG_LICENSE_URI
      guard isPlain else { return "\(own)=\(text)" }
      return "\(gst_tag_to_vorbis_tag(tag).map { String(cString: $0) } ?? own)=\(text)"
    }
  }

  /// Returns the values of a tag as text; nil if the values have no text form.
  package func texts(of tag: String) -> [String]? {
    let type = gst_tag_get_type(tag)
    if type == FundamentalType.string { return strings(tag) }
    guard type != gst_sample_get_type(), type != gst_buffer_get_type() else { return nil }
    return (0..<gst_tag_list_get_tag_size(raw, tag)).compactMap { number in
      gst_tag_list_get_value_index(raw, tag, number).flatMap { takeString(gst_value_serialize($0)) }
    }
  }
}
