import CGStreamer
import Synchronization

/// Installed element factories, best rank first.
package enum Registry {
  package enum Kind: Sendable {
    case decoder, encoder, muxer
    var type: UInt64 {
      switch self {  // GST_ELEMENT_FACTORY_TYPE_… of gstelementfactory.h, which Swift does not import
      case .decoder: 1 << 0
      case .encoder: 1 << 1
      case .muxer: 1 << 4
      }
    }
  }

  /// Returns the names of the factories of `kind` that accept the caps `sinks` and produce the caps
  /// `sources`; nil allows any caps.
  /// - Parameter isRanked: true to leave out factories of rank NONE, which are meant to be used by
  ///   name only.
  package static func factories(
    _ kind: Kind, sinks: Caps? = nil, sources: Caps? = nil, isRanked: Bool = true
  ) -> [String] {
    guard (try? GStreamer.initialize()) != nil else { return [] }
    let least = isRanked ? GST_RANK_MARGINAL : GST_RANK_NONE
    var list = gst_element_factory_list_get_elements(GstElementFactoryListType(kind.type), least)
    for (caps, direction) in [(sinks, GST_PAD_SINK), (sources, GST_PAD_SRC)] {
      guard let caps else { continue }
      let filtered = gst_element_factory_list_filter(list, caps.raw, direction, 0)
      gst_plugin_feature_list_free(list)
      list = filtered
    }
    defer { gst_plugin_feature_list_free(list) }
    list = g_list_sort(list, gst_plugin_feature_rank_compare_func)
    var names: [String] = []
    var node = list
    while let current = node {
      if let data = current.pointee.data,
        let name = takeString(gst_object_get_name(data.assumingMemoryBound(to: GstObject.self)))
      {
        names.append(name)
      }
      node = current.pointee.next
    }
    return names
  }

  /// Runs `body` with `preferred` factories ranked first and `avoided` factories disabled, for
  /// autoplugging and ``factories(_:sinks:sources:isRanked:)``. Ranks are process-wide, and are
  /// restored afterwards.
  ///
  /// `body` must not call this function.
  package static func choosing<Value: Sendable, Failure: Error>(
    _ preferred: [String], avoiding avoided: [String], _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard (try? GStreamer.initialize()) != nil else { return try body() }
    let first = preferred.map { ($0, guint(GST_RANK_PRIMARY.rawValue) + 44) }
    let never = avoided.map { ($0, guint(GST_RANK_NONE.rawValue)) }
    return try ranking.withLock { _ throws(Failure) in
      let before = (first + never).compactMap { factory, rank in exchangeRank(of: factory, rank).map { (factory, $0) } }
      defer { for (factory, rank) in before { _ = exchangeRank(of: factory, rank) } }
      return try body()
    }
  }

  /// Locked while ranks differ from the ranks that the host program has set.
  private static let ranking = Mutex(())

  /// - Returns: previous rank; nil if there is no such factory.
  private static func exchangeRank(of factory: String, _ rank: guint) -> guint? {
    guard let feature = gst_registry_lookup_feature(gst_registry_get(), factory) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(feature)) }
    defer { gst_plugin_feature_set_rank(feature, rank) }
    return gst_plugin_feature_get_rank(feature)
  }

  /// Loads a plugin in advance, if the plugin is installed (`gst_plugin_load_by_name`).
  package static func load(plugin name: String) {
    guard (try? GStreamer.initialize()) != nil, let plugin = gst_plugin_load_by_name(name) else { return }
    gst_object_unref(UnsafeMutableRawPointer(plugin))
  }

  /// True if `factory` is installed.
  package static func has(_ factory: String) -> Bool {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(found))
    return true
  }

  /// Returns the class of the elements of `factory`, such as `Codec/Encoder/Video/Hardware`; nil if
  /// there is no such factory.
  package static func kind(of factory: String) -> String? {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
    return gst_element_factory_get_metadata(found, GST_ELEMENT_METADATA_KLASS).map { String(cString: $0) }
  }

  /// Returns the template caps of the first source pad of `factory`; nil if there is no such pad,
  /// or the factory is not installed.
  package static func sourceCaps(of factory: String) -> Caps? { templateCaps(of: factory, GST_PAD_SRC) }

  /// Returns the template caps of the first sink pad of `factory`; nil if there is no such pad, or
  /// the factory is not installed.
  package static func sinkCaps(of factory: String) -> Caps? { templateCaps(of: factory, GST_PAD_SINK) }

  private static func templateCaps(of factory: String, _ direction: GstPadDirection) -> Caps? {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
    var node = gst_element_factory_get_static_pad_templates(found)
    while let current = node {
      if let template = current.pointee.data?.assumingMemoryBound(to: GstStaticPadTemplate.self),
        template.pointee.direction == direction
      {
        return gst_static_pad_template_get_caps(template).map { Caps(adopting: $0) }
      }
      node = UnsafePointer(current.pointee.next)
    }
    return nil
  }

  /// True if a sink pad of `factory` accepts some or all of the media that `caps` describe.
  package static func factory(_ factory: String, takes caps: Caps) -> Bool {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return false }
    defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
    return gst_element_factory_can_sink_any_caps(found, caps.raw) != 0
  }

  /// True if a sink pad of `factory` accepts all of the media that `caps` describe; false if `caps`
  /// lack a field that the pad requires.
  package static func factory(_ factory: String, takesAllOf caps: Caps) -> Bool {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return false }
    defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
    return gst_element_factory_can_sink_all_caps(found, caps.raw) != 0
  }
}

extension Registry {
  /// True if elements of `factory` have the property `name`.
  package static func property(_ name: String, of factory: String) -> Bool {
    guard let element = Element(factory: factory) else { return false }
    return element.specification(of: name) != nil
  }

  /// Returns the description of a property in the element's own words (`g_param_spec_get_blurb`);
  /// nil if there is no such property.
  package static func purpose(of property: String, of factory: String) -> String? {
    Element(factory: factory)?.specification(of: property).flatMap { g_param_spec_get_blurb($0) }.map {
      String(cString: $0)
    }
  }

  /// Returns the values that a property accepts; nil if there is no such property, or the property
  /// is neither a number nor an enumeration.
  package static func allowed(_ name: String, of factory: String) -> AllowedValues? {
    Element(factory: factory).flatMap { allowed(name, of: $0) }
  }

  /// True if `text` is an encoding profile in GStreamer's serialised syntax, or the name of an
  /// installed encoding target.
  package static func isEncodingProfile(_ text: String) -> Bool {
    guard (try? GStreamer.initialize()) != nil else { return false }
    var value = GValue()
    g_value_init(&value, gst_encoding_profile_get_type())
    defer { g_value_unset(&value) }
    return gst_value_deserialize(&value, text) != 0
  }

  static func allowed(_ name: String, of element: Element) -> AllowedValues? {
    guard let spec = element.specification(of: name) else { return nil }
    func seen<Specification>(as type: Specification.Type) -> Specification {
      UnsafeMutableRawPointer(spec).assumingMemoryBound(to: type).pointee
    }
    // Compare type names: Swift does not import the type numbers, which are macros such as
    // G_TYPE_PARAM_INT.
    switch g_type_name_from_instance(
      UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GTypeInstance.self)
    ).map({
      String(cString: $0)
    }) {
    case "GParamInt":
      let spec = seen(as: GParamSpecInt.self)
      return .whole(Int(spec.minimum)...Int(spec.maximum))
    case "GParamUInt":
      let spec = seen(as: GParamSpecUInt.self)
      return .whole(Int(spec.minimum)...Int(spec.maximum))
    case "GParamInt64":
      let spec = seen(as: GParamSpecInt64.self)
      return .whole(Int(spec.minimum)...Int(spec.maximum))
    case "GParamUInt64":
      let spec = seen(as: GParamSpecUInt64.self)
      return .whole(Int(clamping: spec.minimum)...Int(clamping: spec.maximum))
    case "GParamFloat":
      let spec = seen(as: GParamSpecFloat.self)
      return .number(Double(spec.minimum)...Double(spec.maximum))
    case "GParamDouble":
      let spec = seen(as: GParamSpecDouble.self)
      return .number(spec.minimum...spec.maximum)
    case "GParamEnum":
      let spec = seen(as: GParamSpecEnum.self)
      guard let values = spec.enum_class else { return nil }
      return .names(
        (0..<Int(values.pointee.n_values)).map { index in
          let value = values.pointee.values[index]
          return (nick: String(cString: value.value_nick), value: Int(value.value))
        })
    default: return nil
    }
  }
}

/// Values that a property accepts.
package enum AllowedValues: CustomStringConvertible {
  case whole(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  /// Each value of the enumeration with its nick.
  case names([(nick: String, value: Int)])

  /// True if the property accepts `text`, in the syntax of ``Element/set(_:_:)``.
  package func contains(_ text: String) -> Bool {
    switch self {
    case .whole(let range): Int(text).map(range.contains) ?? false
    case .number(let range): Double(text).map(range.contains) ?? false
    case .names(let names): names.contains { $0.nick == text || "\($0.value)" == text }
    }
  }

  /// Text such as `0 to 50`, or the nicks of an enumeration.
  package var description: String {
    switch self {
    case .whole(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .names(let names): names.map(\.nick).joined(separator: ", ")
    }
  }
}

extension Element {
  func specification(of property: String) -> UnsafeMutablePointer<GParamSpec>? {
    let type = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    guard let type else { return nil }
    return g_object_class_find_property(
      UnsafeMutableRawPointer(type).assumingMemoryBound(to: GObjectClass.self), property)
  }
}
