import CGStreamer
package import MediaTime

/// Chapters of a container (`GstToc`).
package struct TableOfContents: Sendable {
  package struct Entry: Sendable {
    package var start: ClockTime
    /// End of the chapter; nil if the container does not declare an end.
    package var end: ClockTime?
    package var title: String?
    package var children: [Entry]

    package init(start: ClockTime, end: ClockTime?, title: String?, children: [Entry]) {
      self.start = start
      self.end = end
      self.title = title
      self.children = children
    }
  }
  package var entries: [Entry]

  package init(entries: [Entry]) { self.entries = entries }

  /// Maximum number of chapters that flacenc gets for a FLAC cue sheet, in all releases. Before
  /// 1.24 (abdd1967ad), flacenc counts chapters in a signed 8-bit number, and crashes above 127.
  package static let mostCues = 127

  /// Creates the chapters from the first edition, or from all entries if there are no editions.
  init(_ toc: OpaquePointer) {
    let all = TableOfContents.list(gst_toc_get_entries(toc))
    if let first = all.first, gst_toc_entry_get_entry_type(first) == GST_TOC_ENTRY_TYPE_EDITION {
      entries = TableOfContents.list(gst_toc_entry_get_sub_entries(first)).compactMap { TableOfContents.entry($0) }
    } else {
      entries = all.compactMap { TableOfContents.entry($0) }
    }
  }

  private static func list(_ list: UnsafeMutablePointer<GList>?) -> [OpaquePointer] {
    var found: [OpaquePointer] = []
    var node = list
    while let current = node {
      if let data = current.pointee.data { found.append(OpaquePointer(data)) }
      node = current.pointee.next
    }
    return found
  }

  private static func entry(_ raw: OpaquePointer) -> Entry? {
    var start: gint64 = 0
    var stop: gint64 = -1
    guard gst_toc_entry_get_start_stop_times(raw, &start, &stop) != 0, start >= 0 else { return nil }
    let tags = gst_toc_entry_get_tags(raw).map { TagList(retaining: $0) }
    return Entry(
      start: ClockTime(nanoseconds: Int64(start)),
      end: stop > start ? ClockTime(nanoseconds: Int64(stop)) : nil, title: tags?.string("title"),
      children: list(gst_toc_entry_get_sub_entries(raw)).compactMap { entry($0) })
  }

  /// Creates a TOC for a muxer (`gst_toc_setter_set_toc`).
  func make() -> OpaquePointer? {
    guard let toc = gst_toc_new(GST_TOC_SCOPE_GLOBAL), let edition = gst_toc_entry_new(GST_TOC_ENTRY_TYPE_EDITION, "0")
    else { return nil }
    var number = 0
    for entry in entries { TableOfContents.add(entry, to: edition, &number) }
    gst_toc_append_entry(toc, edition)
    return toc
  }

  private static func add(_ entry: Entry, to parent: OpaquePointer, _ number: inout Int) {
    number += 1
    guard let raw = gst_toc_entry_new(GST_TOC_ENTRY_TYPE_CHAPTER, "\(number)") else { return }
    gst_toc_entry_set_start_stop_times(raw, gint64(entry.start.nanoseconds), gint64(entry.end?.nanoseconds ?? -1))
    if let title = entry.title, let tags = gst_tag_list_new_empty() {
      var value = GValue()
      g_value_init(&value, GType(16 << 2))  // G_TYPE_STRING
      g_value_set_string(&value, title)
      gst_tag_list_add_value(tags, GST_TAG_MERGE_REPLACE, GST_TAG_TITLE, &value)
      g_value_unset(&value)
      gst_toc_entry_set_tags(raw, tags)
    }
    for child in entry.children { add(child, to: raw, &number) }
    gst_toc_entry_append_sub_entry(parent, raw)
  }
}

extension Pad {
  /// Chapters received on the stream (`GST_EVENT_TOC`).
  package var tableOfContents: TableOfContents? {
    guard let event = gst_pad_get_sticky_event(raw, GST_EVENT_TOC, 0) else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(event).assumingMemoryBound(to: GstMiniObject.self)) }
    var toc: OpaquePointer?
    gst_event_parse_toc(event, &toc, nil)
    guard let toc else { return nil }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(toc).assumingMemoryBound(to: GstMiniObject.self)) }
    return TableOfContents(toc)
  }
}

extension Pipeline {
  /// True if chapters are written into a FLAC cue sheet: the pipeline has an element that accepts
  /// chapters, but this element is no muxer. A cue sheet has no titles and no nested chapters.
  package var hasCueSheet: Bool {
    let setters = elements(implementing: gst_toc_setter_get_type())
    return !setters.isEmpty && !setters.contains { $0.isOfClass("Muxer") }
  }

  /// Sets chapters on every muxer, or on every `GstTocSetter` if there is no muxer.
  /// - Returns: true if the pipeline has a `GstTocSetter`.
  package func setTableOfContents(_ contents: TableOfContents) -> Bool {
    let setters = elements(implementing: gst_toc_setter_get_type())
    var contents = contents
    if hasCueSheet { contents.entries = Array(contents.entries.prefix(TableOfContents.mostCues)) }
    guard !setters.isEmpty, let toc = contents.make() else { return false }
    defer { gst_mini_object_unref(UnsafeMutableRawPointer(toc).assumingMemoryBound(to: GstMiniObject.self)) }
    // Leave out encoders: matroskamux 1.22 writes no titles if `flacenc` gets the chapters too,
    // because flacenc creates a cue sheet from the chapters.
    let muxers = setters.filter { $0.isOfClass("Muxer") }
    for setter in muxers.isEmpty ? setters : muxers { gst_toc_setter_set_toc(OpaquePointer(setter.raw), toc) }
    return true
  }
}
