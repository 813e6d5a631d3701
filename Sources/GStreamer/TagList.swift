package import CGStreamer

/// Tags of a stream or file, such as title, language and orientation (`GstTagList`).
package final class TagList: @unchecked Sendable, CustomStringConvertible {
  // GstTagList is refcounted atomically, and this class never writes to it after creation.
  package let raw: UnsafeMutablePointer<GstTagList>

  init(adopting raw: UnsafeMutablePointer<GstTagList>) { self.raw = raw }
  init(retaining raw: UnsafeMutablePointer<GstTagList>) {
    gst_mini_object_ref(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self))
    self.raw = raw
  }
  deinit { gst_mini_object_unref(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self)) }

  /// Parses text such as `taglist, title="A day"`; nil if invalid.
  package convenience init?(_ text: String) {
    guard (try? GStreamer.initialize()) != nil, let raw = gst_tag_list_new_from_string(text) else { return nil }
    self.init(adopting: raw)
  }

  /// Text in the syntax of `taginject` and ``init(_:)``.
  package var description: String { takeString(gst_tag_list_to_string(raw)) ?? "" }

  package var isEmpty: Bool { gst_tag_list_is_empty(raw) != 0 }

  package func string(_ tag: String) -> String? {
    var value: UnsafeMutablePointer<gchar>?
    guard gst_tag_list_get_string(raw, tag, &value) != 0 else { return nil }
    return takeString(value)
  }

  package func double(_ tag: String) -> Double? {
    var value = 0.0
    return gst_tag_list_get_double(raw, tag, &value) != 0 ? value : nil
  }

  /// Returns all values of a tag.
  package func strings(_ tag: String) -> [String] {
    (0..<gst_tag_list_get_tag_size(raw, tag)).compactMap { number in
      var value: UnsafeMutablePointer<gchar>?
      guard gst_tag_list_get_string_index(raw, tag, number, &value) != 0 else { return nil }
      return takeString(value)
    }
  }

  /// Creates a list with only a language (`language-code`).
  package convenience init?(language: String) {
    self.init("taglist, language-code=(string)\(Description.quoted(language))")
  }

  /// Creates the language tag of a stream as GStreamer's demuxers do: with the two-letter code (ISO
  /// 639-1) if one exists.
  /// - Parameter language: three-letter code (ISO 639-2).
  package convenience init?(languageOfThreeLetters language: String) {
    self.init(language: TagList.shortLanguage(language))
  }

  /// Returns the two-letter code (ISO 639-1) of a language; `code` itself if there is none.
  package static func shortLanguage(_ code: String) -> String {
    gst_tag_get_language_code_iso_639_1(code).map { String(cString: $0) } ?? code
  }

  /// Returns the three-letter code (ISO 639-2) of a language; `code` itself if there is none.
  static func longLanguage(_ code: String) -> String {
    gst_tag_get_language_code_iso_639_2T(code).map { String(cString: $0) } ?? code
  }

  /// Creates a list of comments such as `NAME=text`; nil if `comments` is empty.
  package convenience init?(comments: [String]) {
    guard !comments.isEmpty else { return nil }
    let values = comments.map { "(string)\(Description.quoted($0))" }.joined(separator: ", ")
    self.init("taglist, extended-comment={ \(values) }")
  }

  /// Names of all tags.
  package var names: [String] {
    (0..<gst_tag_list_n_tags(raw)).compactMap { number in
      gst_tag_list_nth_tag_name(raw, guint(number)).map { String(cString: $0) }
    }
  }

  /// Returns the number of values of a tag.
  package func count(of tag: String) -> Int { Int(gst_tag_list_get_tag_size(raw, tag)) }

  package func has(_ tag: String) -> Bool { count(of: tag) > 0 }

  /// Returns a hash of the first image of a tag; nil if the tag has no image.
  package func hash(ofImage tag: String) -> UInt64? {
    var raw: OpaquePointer?
    guard gst_tag_list_get_sample(self.raw, tag, &raw) != 0, let raw else { return nil }
    return try? Sample(adopting: raw)?.buffer.withBytes { bytes in
      var hash = ByteHash()
      hash.add(bytes)
      return hash.value
    }
  }

  /// Merges this list with `other`. If a tag is in both lists, the values of this list are kept.
  package func merging(_ other: TagList) -> TagList {
    gst_tag_list_merge(raw, other.raw, GST_TAG_MERGE_KEEP).map { TagList(adopting: $0) } ?? self
  }

  /// Copy of the list in which images without a type, or of type `undefined`, have the type `none`.
  package var withoutUndefinedImageTypes: TagList {
    let none = gst_structure_from_string("GstTagImageInfo, image-type=(GstTagImageType)none", nil)
    guard has(GST_TAG_IMAGE), let none else { return self }
    defer { gst_structure_free(none) }
    let list = removing([GST_TAG_IMAGE])
    for number in 0..<guint(count(of: GST_TAG_IMAGE)) {
      var image: OpaquePointer?
      guard gst_tag_list_get_sample_index(raw, GST_TAG_IMAGE, number, &image) != 0, let image else { continue }
      defer { gst_sample_unref(image) }
      var type = GST_TAG_IMAGE_TYPE_NONE.rawValue
      let isUndefined =
        gst_structure_get_enum(gst_sample_get_info(image), "image-type", gst_tag_image_type_get_type(), &type) == 0
        || type == GST_TAG_IMAGE_TYPE_UNDEFINED.rawValue
      var value = GValue()
      g_value_init(&value, gst_sample_get_type())
      defer { g_value_unset(&value) }
      if isUndefined {
        let untyped = gst_sample_new(
          gst_sample_get_buffer(image), gst_sample_get_caps(image), nil, gst_structure_copy(none))
        g_value_take_boxed(&value, UnsafeRawPointer(untyped))
      } else {
        g_value_set_boxed(&value, UnsafeRawPointer(image))
      }
      gst_tag_list_add_value(list.raw, GST_TAG_MERGE_APPEND, GST_TAG_IMAGE, &value)
    }
    return list
  }

  /// Returns a copy of the list without `tags`.
  package func removing(_ tags: [String]) -> TagList {
    guard let copy = gst_mini_object_copy(UnsafeRawPointer(raw).assumingMemoryBound(to: GstMiniObject.self)) else {
      return self
    }
    let list = UnsafeMutableRawPointer(copy).assumingMemoryBound(to: GstTagList.self)
    for tag in tags { gst_tag_list_remove_tag(list, tag) }
    return TagList(adopting: list)
  }
}
