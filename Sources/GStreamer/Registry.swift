import CGStreamer

/// What is installed: element factories, by what they can do, best rank first.
public enum Registry {
  public enum Kind: Sendable {
    case decoder, encoder, muxer
    var type: UInt64 {
      switch self {  // GST_ELEMENT_FACTORY_TYPE_… of gstelementfactory.h, which Swift does not import
      case .decoder: 1 << 0
      case .encoder: 1 << 1
      case .muxer: 1 << 4
      }
    }
  }

  /// The factories of `kind` that take (`sinks`) or give (`sources`) `caps`. Factories of rank NONE are left out.
  public static func factories(_ kind: Kind, sinks: Caps? = nil, sources: Caps? = nil) -> [String] {
    guard (try? GStreamer.initialize()) != nil else { return [] }
    var list = gst_element_factory_list_get_elements(GstElementFactoryListType(kind.type), GST_RANK_MARGINAL)
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

  /// Has `factory` chosen before all others that do the same, in this process.
  public static func prefer(_ factory: String) { rank(factory, guint(GST_RANK_PRIMARY.rawValue) + 44) }

  /// Has `factory` never chosen, in this process.
  public static func avoid(_ factory: String) { rank(factory, guint(GST_RANK_NONE.rawValue)) }

  private static func rank(_ factory: String, _ rank: guint) {
    guard (try? GStreamer.initialize()) != nil, let feature = gst_registry_lookup_feature(gst_registry_get(), factory)
    else { return }
    gst_plugin_feature_set_rank(feature, rank)
    gst_object_unref(UnsafeMutableRawPointer(feature))
  }

  /// Whether an element can be made from `factory`.
  public static func has(_ factory: String) -> Bool {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(found))
    return true
  }

  /// Whether a sink pad of `factory` takes `caps`.
  public static func factory(_ factory: String, takes caps: Caps) -> Bool {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return false }
    defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
    return gst_element_factory_can_sink_any_caps(found, caps.raw) != 0
  }
}

extension Registry {
  /// Whether elements of `factory` have a property called `name`.
  public static func property(_ name: String, of factory: String) -> Bool {
    guard let element = Element(factory: factory) else { return false }
    return element.specification(of: name) != nil
  }

  /// The values of an enumerated property, with the nicks under which people know them; nil if it is none.
  public static func enumeration(_ name: String, of factory: String) -> [(nick: String, value: Int)]? {
    guard let element = Element(factory: factory), let spec = element.specification(of: name),
      g_type_check_instance_is_a(
        UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GTypeInstance.self), g_type_from_name("GParamEnum")) != 0
    else { return nil }
    let enumeration = UnsafeMutableRawPointer(spec).assumingMemoryBound(to: GParamSpecEnum.self)
    guard let values = enumeration.pointee.enum_class else { return nil }
    return (0..<Int(values.pointee.n_values)).map { index in
      let value = values.pointee.values[index]
      return (nick: String(cString: value.value_nick), value: Int(value.value))
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
