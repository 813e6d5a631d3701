import CGStreamer

/// Swift object behind a GstElement, created and released with the GstElement.
protocol ElementBody: AnyObject, Sendable {
  init(_ element: UnsafeMutablePointer<GstElement>)
  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>)
  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>)
  func changeState(_ transition: GstStateChange) -> GstStateChangeReturn
}

/// Link between GstElements and their Swift objects.
enum ElementType {
  private static let quark = g_quark_from_string("retrograde-body")

  /// Attaches `body` to its element. GObject releases `body` when the element is finalized.
  static func attach<Body: ElementBody>(_ body: Body.Type, to instance: UnsafeMutableRawPointer) {
    let element = instance.assumingMemoryBound(to: GstElement.self)
    g_object_set_qdata_full(
      instance.assumingMemoryBound(to: GObject.self), quark, Unmanaged.passRetained(Body(element)).toOpaque()
    ) { data in
      if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
    }
  }

  static func body(of instance: UnsafeMutableRawPointer?) -> (any ElementBody)? {
    guard let instance,
      let data = g_object_get_qdata(instance.assumingMemoryBound(to: GObject.self), quark)
    else { return nil }
    return Unmanaged<AnyObject>.fromOpaque(data).takeUnretainedValue() as? any ElementBody
  }

  /// Registers a subclass of GstElement without additional instance fields.
  static func register(
    _ name: String, classInit: @escaping @convention(c) (gpointer?, gpointer?) -> Void,
    instanceInit: @escaping @convention(c) (UnsafeMutablePointer<GTypeInstance>?, gpointer?) -> Void
  ) -> GType {
    var query = GTypeQuery()
    g_type_query(gst_element_get_type(), &query)
    var info = GTypeInfo()
    info.class_size = guint16(query.class_size)
    info.class_init = classInit
    info.instance_size = guint16(query.instance_size)
    info.instance_init = instanceInit
    return g_type_register_static(gst_element_get_type(), name, &info, GTypeFlags(0))
  }

  /// Calls the `change_state` function of the base class GstElement, as every element must.
  static func parentChangeState(
    _ element: UnsafeMutablePointer<GstElement>, _ transition: GstStateChange
  ) -> GstStateChangeReturn {
    let parent = g_type_class_peek(gst_element_get_type())?.assumingMemoryBound(to: GstElementClass.self)
    return parent?.pointee.change_state?(element, transition) ?? GST_STATE_CHANGE_SUCCESS
  }
}

/// Registration of enumerated types for properties.
enum EnumType {
  static func register(_ name: String, _ values: [(nick: String, blurb: String)]) -> GType {
    // GObject keeps the table and its strings for the life of the process, so they are never freed.
    let table = UnsafeMutablePointer<GEnumValue>.allocate(capacity: values.count + 1)
    for (index, value) in values.enumerated() {
      table[index] = GEnumValue(
        value: gint(index), value_name: UnsafePointer(g_strdup(value.blurb)),
        value_nick: UnsafePointer(g_strdup(value.nick)))
    }
    table[values.count] = GEnumValue()
    let type = g_enum_register_static(name, table)
    // Adds the type to the documentation that is generated from the registry.
    gst_type_mark_as_plugin_api(type, GstPluginAPIFlags(0))
    return type
  }
}

/// Builder of an element class, including the metadata for gst-inspect-1.0.
struct ElementClass {
  let raw: UnsafeMutablePointer<GstElementClass>
  private var object: UnsafeMutablePointer<GObjectClass> {
    UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObjectClass.self)
  }

  init?(_ pointer: gpointer?) {
    guard let pointer else { return nil }
    raw = pointer.assumingMemoryBound(to: GstElementClass.self)
    object.pointee.set_property = { object, id, value, _ in
      if let value { ElementType.body(of: object)?.setProperty(id, value) }
    }
    object.pointee.get_property = { object, id, value, _ in
      if let value { ElementType.body(of: object)?.getProperty(id, value) }
    }
    raw.pointee.change_state = { element, transition in
      ElementType.body(of: element)?.changeState(transition) ?? GST_STATE_CHANGE_FAILURE
    }
  }

  func describe(name: String, klass: String, description: String) {
    gst_element_class_set_metadata(raw, name, klass, description, "The Retrograde developers")
  }

  func addPad(_ name: String, _ direction: GstPadDirection, _ presence: GstPadPresence, _ caps: String) {
    guard let caps = gst_caps_from_string(caps) else { return }
    defer { gst_caps_unref(caps) }
    gst_element_class_add_pad_template(raw, gst_pad_template_new(name, direction, presence, caps))
  }

  /// Returns the flags of a property that can be read and written. GObject copies the strings of
  /// the property, because the flags lack G_PARAM_STATIC_STRINGS.
  private static func flags(_ mutable: Int32) -> GParamFlags {
    GParamFlags(G_PARAM_READABLE.rawValue | G_PARAM_WRITABLE.rawValue | mutable)
  }

  /// Flag of a property that is writable only in states up to READY (GST_PARAM_MUTABLE_READY from
  /// gstparamspecs.h).
  private static let whenReady = Int32(1) << 10

  func property(_ id: UInt32, _ name: String, _ nick: String, _ blurb: String, string value: String?) {
    install(id, g_param_spec_string(name, nick, blurb, value, ElementClass.flags(ElementClass.whenReady)))
  }

  func property(
    _ id: UInt32, _ name: String, _ nick: String, _ blurb: String, uint64 value: UInt64, from low: UInt64,
    to high: UInt64
  ) {
    install(
      id,
      g_param_spec_uint64(
        name, nick, blurb, guint64(low), guint64(high), guint64(value), ElementClass.flags(ElementClass.whenReady)))
  }

  func property(
    _ id: UInt32, _ name: String, _ nick: String, _ blurb: String, uint value: UInt32, from low: UInt32, to high: UInt32
  ) {
    install(id, g_param_spec_uint(name, nick, blurb, low, high, value, ElementClass.flags(ElementClass.whenReady)))
  }

  func property(_ id: UInt32, _ name: String, _ nick: String, _ blurb: String, enumeration: GType, value: Int32) {
    install(id, g_param_spec_enum(name, nick, blurb, enumeration, value, ElementClass.flags(ElementClass.whenReady)))
  }

  /// Installs a boolean property that is false by default.
  func property(_ id: UInt32, _ name: String, _ nick: String, _ blurb: String) {
    install(id, g_param_spec_boolean(name, nick, blurb, 0, ElementClass.flags(ElementClass.whenReady)))
  }

  private func install(_ id: UInt32, _ spec: UnsafeMutablePointer<GParamSpec>?) {
    g_object_class_install_property(object, id, spec)
  }
}
