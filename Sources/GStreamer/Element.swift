package import CGStreamer
package import MediaTime
import Paths

/// Reference to a `GstElement`.
package final class Element: @unchecked Sendable {
  // GObject refcounting, state changes and property access are MT-safe (GStreamer's design document
  // MT-refcounting).
  package let raw: UnsafeMutablePointer<GstElement>

  init(adopting raw: UnsafeMutablePointer<GstElement>) { self.raw = raw }
  init(retaining raw: UnsafeMutablePointer<GstElement>) {
    gst_object_ref(raw)
    self.raw = raw
  }
  deinit { gst_object_unref(raw) }

  /// Creates an element from a factory name; nil if no such factory exists.
  package convenience init?(factory: String, name: String? = nil) {
    guard (try? GStreamer.initialize()) != nil, let raw = gst_element_factory_make(factory, name) else { return nil }
    gst_object_ref_sink(raw)
    self.init(adopting: raw)
  }

  /// First sink pad; nil if the element has no sink pad.
  package var firstSinkPad: Pad? { pads(gst_element_foreach_sink_pad).first }

  /// This element and all upstream elements, nearest first. Follows the first sink pad of each
  /// element, also into bins.
  package var upstream: [Element] { [self] + origins.map(\.element) }

  /// Source pads on the path to this element, each with its element, nearest first. Follows the
  /// first sink pad of each element.
  package var origins: [(element: Element, pad: Pad)] {
    var chain: [(element: Element, pad: Pad)] = []
    while let next = (chain.last?.element ?? self).firstSinkPad?.peer?.origin,
      !next.element.isSame(as: self), !chain.contains(where: { $0.element.isSame(as: next.element) })
    {
      chain.append(next)
    }
    return chain
  }

  /// True if the element's first sink pad is not linked.
  package var isOpenEnded: Bool { firstSinkPad.map { $0.peer == nil } ?? false }

  /// This element and all downstream elements, nearest first. Follows all source pads, into bins
  /// and out of bins.
  package var downstream: [Element] {
    var found: [Element] = [self]
    var next = 0
    while next < found.count {
      for pad in found[next].sourcePads {
        guard let element = pad.destination?.element, !found.contains(where: { $0.isSame(as: element) }) else {
          continue
        }
        found.append(element)
      }
      next += 1
    }
    return found
  }

  /// Returns the sink pad through which this element's data enters the nearest downstream element
  /// that satisfies `isWanted`.
  package func entered(_ isWanted: (Element) -> Bool) -> Pad? {
    for element in downstream {
      for pad in element.sourcePads {
        if let next = pad.destination, isWanted(next.element) { return next.pad }
      }
    }
    return nil
  }

  package var sourcePads: [Pad] { pads(gst_element_foreach_src_pad) }

  /// True if a streaming thread runs in this element, or pushes data from this element downstream.
  /// The state of the `GstTask` is not enough: sources and demuxers pause their task before they
  /// send EOS, and a decoder may output many frames on EOS; typefind stops its task before it links
  /// the next element. A streaming thread holds its pad's stream lock as long as it runs, so this
  /// property checks the lock too.
  var isRunning: Bool {
    pads(gst_element_foreach_pad).contains { pad in
      if gst_pad_get_task_state(pad.raw) == GST_TASK_STARTED { return true }
      guard g_rec_mutex_trylock(&pad.raw.pointee.stream_rec_lock) != 0 else { return true }
      g_rec_mutex_unlock(&pad.raw.pointee.stream_rec_lock)
      return false
    }
  }

  /// Returns the pads that `forEach` iterates over. `forEach` copies the list of pads under the
  /// object's lock, so other threads may add and remove pads meanwhile.
  private func pads(
    _ forEach: (UnsafeMutablePointer<GstElement>, GstElementForeachPadFunc?, gpointer?) -> gboolean
  ) -> [Pad] {
    var pads: [Pad] = []
    withUnsafeMutablePointer(to: &pads) { list in
      _ = forEach(
        raw,
        { _, pad, list in
          if let pad { list?.assumingMemoryBound(to: [Pad].self).pointee.append(Pad(retaining: pad)) }
          return 1
        }, list)
    }
    return pads
  }

  /// Returns the value of a property as text; nil if there is no such property, or its type is not
  /// a string.
  package func string(_ property: String) -> String? {
    text(of: property) { Element.isPath(property) ? String(cPath: $0) : String(cString: $0) }
  }

  func text(of property: String, _ decode: (UnsafePointer<gchar>) -> String) -> String? {
    guard let spec = specification(of: property), spec.pointee.value_type == FundamentalType.string else { return nil }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    g_object_get_property(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property, &value)
    return g_value_get_string(&value).map { decode($0) }
  }

  /// Returns the value of a property as an integer; nil if there is no such property, or its value
  /// is not a number.
  package func integer(_ property: String) -> Int? {
    guard let spec = specification(of: property) else { return nil }
    var value = GValue()
    g_value_init(&value, FundamentalType.int64)
    defer { g_value_unset(&value) }
    guard g_value_type_transformable(spec.pointee.value_type, value.g_type) != 0 else { return nil }
    g_object_get_property(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property, &value)
    return Int(g_value_get_int64(&value))
  }

  /// Returns the value of a property as a floating-point number; nil if there is no such property,
  /// or its value is not a number.
  package func number(_ property: String) -> Double? {
    guard let spec = specification(of: property) else { return nil }
    var value = GValue()
    g_value_init(&value, FundamentalType.double)
    defer { g_value_unset(&value) }
    guard g_value_type_transformable(spec.pointee.value_type, value.g_type) != 0 else { return nil }
    g_object_get_property(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property, &value)
    return g_value_get_double(&value)
  }

  /// Size in bytes of the data that the element reads; nil if unknown.
  package var byteCount: Int? {
    var value: gint64 = 0
    guard gst_element_query_duration(raw, GST_FORMAT_BYTES, &value) != 0, value > 0 else { return nil }
    return Int(value)
  }

  /// Duration of the media that the element reads; nil if unknown.
  package var duration: ClockTime? {
    var value: gint64 = 0
    guard gst_element_query_duration(raw, GST_FORMAT_TIME, &value) != 0, value > 0 else { return nil }
    return ClockTime(nanoseconds: Int64(value))
  }

  /// True if the class of the element's factory, such as `Codec/Decoder/Audio`, contains the word
  /// `part`.
  package func isOfClass(_ part: String) -> Bool {
    guard let factory = gst_element_get_factory(raw), let metadata = gst_element_factory_get_metadata(factory, "klass")
    else { return false }
    return String(cString: metadata).split(separator: "/").contains { $0 == part }
  }

  /// Name of the element, unique within its bin.
  package var name: String { takeString(gst_object_get_name(raw.withObject)) ?? "" }

  /// Name of the element's factory, such as `x264enc`.
  package var factoryName: String? { Element.factoryName(of: raw) }

  static func factoryName(of raw: UnsafeMutablePointer<GstElement>) -> String? {
    guard let factory = gst_element_get_factory(raw),
      let name = gst_object_get_name(UnsafeMutableRawPointer(factory).assumingMemoryBound(to: GstObject.self))
    else { return nil }
    return takeString(name)
  }

  /// Sets a property from text, as `gst-launch-1.0` does (`gst_util_set_object_arg`).
  /// - Throws: ``GStreamerError`` of kind `refusedValue` if the property does not exist or refuses
  ///   the value.
  package func set(_ property: String, _ value: String) throws(GStreamerError) {
    let allowed = Registry.allowed(property, of: self)
    guard specification(of: property) != nil, allowed?.contains(value) ?? true else {
      throw GStreamerError(
        kind: .refusedValue, element: factoryName,
        message: "\(property) can't be \(value)" + (allowed.map { "; it can be \($0)" } ?? ""), debug: nil)
    }
    if Element.isPath(property) { return setPath(property, value) }
    gst_util_set_object_arg(UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GObject.self), property, value)
  }

  /// Makes the element's pipeline fail: posts `error` on the pipeline's bus.
  package func fail(_ error: GStreamerError) {
    gst_element_message_full(
      raw, GST_MESSAGE_ERROR, gst_core_error_quark(), gint(GST_CORE_ERROR_FAILED.rawValue), g_strdup(error.description),
      nil, #file, #function, #line)
  }

  /// Returns the static pad called `name`: a pad that the element always has.
  package func staticPad(_ name: String) -> Pad? {
    gst_element_get_static_pad(raw, name).map { Pad(adopting: $0) }
  }

  /// Calls `body` on a GStreamer thread for each pad that the element adds (`pad-added`).
  package func onPadAdded(_ body: @escaping @Sendable (Pad) -> Void) {
    typealias Handler =
      @convention(c) (
        UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstPad>, gpointer
      ) -> Void
    let handler: Handler = { _, pad, box in
      Unmanaged<Callback<Pad, Void>>.fromOpaque(box).takeUnretainedValue().body(Pad(retaining: pad))
    }
    connect("pad-added", unsafeBitCast(handler, to: GCallback.self), Callback(body))
  }

  /// Calls `body` on a GStreamer thread once the element adds no more pads (`no-more-pads`).
  package func onNoMorePads(_ body: @escaping @Sendable () -> Void) {
    typealias Handler = @convention(c) (UnsafeMutablePointer<GstElement>, gpointer) -> Void
    let handler: Handler = { _, box in
      Unmanaged<Callback<Void, Void>>.fromOpaque(box).takeUnretainedValue().body(())
    }
    connect("no-more-pads", unsafeBitCast(handler, to: GCallback.self), Callback<Void, Void>(body))
  }

  /// Calls `body` for each element that is added to this bin or to a nested one
  /// (`deep-element-added`), on the thread that adds the element. This element must be a bin.
  func onElementAdded(_ body: @escaping @Sendable (Element) -> Void) {
    typealias Handler =
      @convention(c) (
        UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstElement>, gpointer
      ) -> Void
    let handler: Handler = { _, _, added, box in
      Unmanaged<Callback<Element, Void>>.fromOpaque(box).takeUnretainedValue().body(Element(retaining: added))
    }
    connect("deep-element-added", unsafeBitCast(handler, to: GCallback.self), Callback(body))
  }

  /// Calls `body` before this element plugs a factory (`autoplug-select`), on the thread that plugs
  /// the factory. `body` gets the factory and the caps of the stream, and decides whether the
  /// factory is plugged. Does nothing if the element has no such signal.
  func onAutoplugSelect(_ body: @escaping @Sendable (_ factory: OpaquePointer, Caps) -> Autoplug) {
    let type = UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    guard let type, g_signal_lookup("autoplug-select", type.pointee.g_type) != 0 else { return }
    typealias Handler =
      @convention(c) (
        UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstPad>, UnsafeMutablePointer<GstCaps>, OpaquePointer,
        gpointer
      ) -> gint
    let handler: Handler = { _, _, caps, factory, box in
      let callback = Unmanaged<Callback<(OpaquePointer, Caps), Autoplug>>.fromOpaque(box).takeUnretainedValue()
      return callback.body((factory, Caps(retaining: caps))).rawValue
    }
    let callback = Callback<(OpaquePointer, Caps), Autoplug> { body($0.0, $0.1) }
    connect("autoplug-select", unsafeBitCast(handler, to: GCallback.self), callback)
  }

  /// Calls `body` with the source that this `playbin` creates (`source-setup`).
  func onSourceSetup(_ body: @escaping @Sendable (Element) -> Void) {
    typealias Handler =
      @convention(c) (UnsafeMutablePointer<GstElement>, UnsafeMutablePointer<GstElement>, gpointer) -> Void
    let handler: Handler = { _, source, box in
      Unmanaged<Callback<Element, Void>>.fromOpaque(box).takeUnretainedValue().body(Element(retaining: source))
    }
    connect("source-setup", unsafeBitCast(handler, to: GCallback.self), Callback(body))
  }

  /// Connects a signal; the connection retains `callback`.
  private func connect(_ signal: String, _ handler: GCallback, _ callback: AnyObject) {
    g_signal_connect_data(
      raw, signal, handler, Unmanaged.passRetained(callback).toOpaque(),
      { data, _ in
        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
      }, GConnectFlags(0))
  }
}

private final class Callback<Argument, Result>: Sendable {
  let body: @Sendable (Argument) -> Result
  init(_ body: @escaping @Sendable (Argument) -> Result) { self.body = body }
}

extension UnsafeMutablePointer {
  /// The same instance as a pointer to its base class GstObject.
  var withObject: UnsafeMutablePointer<GstObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self)
  }
}

extension Element {
  /// True if both references are to the same GStreamer element.
  package func isSame(as other: Element) -> Bool { raw == other.raw }
}
