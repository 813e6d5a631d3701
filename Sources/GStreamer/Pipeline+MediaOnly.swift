import CGStreamer

/// Element that a file needs, but that ``Pipeline/plugOnlyMedia(choosing:_:)`` refused.
package struct RefusedElement: Sendable {
  /// Name of the factory, such as `hlsdemux`.
  package let factory: String
  /// Media type the element would read, such as `application/x-hls`; nil if unknown.
  package let mediaType: String?
}

/// Answer to a bin's question whether to plug a factory (GstAutoplugSelectResult, which no header
/// declares).
package enum Autoplug: Int32, Sendable {
  case plug = 0
  /// Exposes the stream undecoded.
  case expose = 1
  /// Tries the next factory.
  case skip = 2
}

extension Pipeline {
  /// Makes decodebin, parsebin and similar bins plug only elements that read media from their
  /// input: demuxers, parsers and decoders. Elements that open the files named in another file
  /// (adaptive demuxers, edit projects, sources) are skipped before they are created
  /// (`autoplug-select`).
  ///
  /// Bins without the signal, such as urisourcebin, cannot skip such elements. The elements are
  /// plugged but get no data, and the pipeline fails. Must be called before the pipeline starts.
  ///
  /// - Parameters:
  ///   - choice: decides whether to plug a media factory for the caps of a stream.
  ///   - refused: called for each refused element, on the thread that would plug the element. The
  ///     pipeline retains this closure.
  package func plugOnlyMedia(
    choosing choice: @escaping @Sendable (_ factory: String, Caps) -> Autoplug,
    _ refused: @escaping @Sendable (RefusedElement) -> Void
  ) {
    for element in elements { element.selectOnlyMedia(choice, refused) }
    onElementAdded { element in
      element.selectOnlyMedia(choice, refused)
      guard let factory = element.factory, factory.opensFiles, !element.isReaderOfBin else { return }
      element.firstSinkPad?.dropAllData()
      refused(RefusedElement(factory: factory.name, mediaType: nil))
      element.fail(
        GStreamerError(
          kind: .notMedia, element: nil,
          message: "contains no media, only the names of other files or URLs, which are not opened", debug: nil))
    }
  }

  /// True if any element is of class `Network`, or has a network address in its property `uri` or
  /// `location`.
  package var readsAddresses: Bool {
    elements.contains { element in
      element.isOfClass("Network")
        || ["uri", "location"].contains { property in
          element.string(property).map { $0.contains("://") && !$0.lowercased().hasPrefix("file:") } ?? false
        }
    }
  }
}

extension Element {
  /// Skips all factories that do not read media, if the element has the signal `autoplug-select`.
  fileprivate func selectOnlyMedia(
    _ choice: @escaping @Sendable (String, Caps) -> Autoplug, _ refused: @escaping @Sendable (RefusedElement) -> Void
  ) {
    onAutoplugSelect { factory, caps in
      let factory = Factory(raw: factory)
      if factory.readsMedia { return choice(factory.name, caps) }
      refused(RefusedElement(factory: factory.name, mediaType: caps.mediaType))
      return .skip
    }
  }

  fileprivate var factory: Factory? { gst_element_get_factory(raw).map { Factory(raw: $0) } }

  /// True if this element is the source that a bin, such as uridecodebin, created for the bin's own
  /// property `uri`.
  fileprivate var isReaderOfBin: Bool {
    guard isOfClass("Source"), let parent = gst_object_get_parent(raw.withObject) else { return false }
    defer { gst_object_unref(parent) }
    let type = UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    return type.flatMap {
      g_object_class_find_property(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObjectClass.self), "uri")
    } != nil
  }
}

/// Factory of an element that may not exist yet.
private struct Factory {
  let raw: OpaquePointer

  var name: String {
    takeString(gst_object_get_name(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self))) ?? ""
  }

  /// Words in the class of the factory, such as `Codec`, `Demuxer` and `Adaptive`.
  private var parts: Set<Substring> {
    guard let text = gst_element_factory_get_metadata(raw, "klass") else { return [] }
    return Set(String(cString: text).split(whereSeparator: { $0 == "/" || $0 == " " }))
  }

  private var handlesURIs: Bool { gst_element_factory_get_uri_type(raw) != GST_URI_UNKNOWN }

  /// True if elements of the factory read media from their input, and open no files or addresses.
  var readsMedia: Bool {
    let parts = parts
    return !handlesURIs && parts.isSubset(of: Factory.known)
      && !parts.isDisjoint(with: ["Demuxer", "Parser", "Decoder"])
  }

  /// True if elements of the factory open files or addresses.
  var opensFiles: Bool {
    handlesURIs || !parts.isDisjoint(with: ["Source", "Adaptive", "Playlist", "Editing", "Network"])
  }

  /// Words allowed in the class of a media demuxer, parser or decoder.
  private static let known: Set<Substring> = [
    "Codec", "Demuxer", "Parser", "Decoder", "Audio", "Video", "Image", "Subtitle", "Metadata", "Meta", "Converter",
    "Hardware", "Bin",
  ]
}
