import CGStreamer

/// Camera, microphone or screen known to GStreamer (`GstDevice`).
public struct Device: Sendable {
  public enum Kind: String, Sendable, CaseIterable, Codable {
    case video, audio
  }

  public let kind: Kind
  /// Readable name, such as `HD Webcam C525`.
  public let name: String
  /// GStreamer elements that read from the device, in `gst-launch-1.0` syntax.
  public let source: String
  /// Caps that the device can produce.
  package let caps: Caps?

  package init(kind: Kind, name: String, source: String, caps: Caps?) {
    self.kind = kind
    self.name = name
    self.source = source
    self.caps = caps
  }

  /// Creates a camera from its device file. `GstDeviceMonitor` does not list some cameras, such as
  /// those of a loopback driver.
  public init(videoAt path: String) {
    self.init(kind: .video, name: path, source: "v4l2src device=\(Description.quoted(path))", caps: nil)
  }

  /// Lists the connected devices (`gst_device_monitor_get_devices`).
  public static func all() throws -> [Device] {
    try GStreamer.initialize()
    return Kind.allCases.flatMap { kind in devices(kind) }
  }

  private static func devices(_ kind: Kind) -> [Device] {
    guard let monitor = gst_device_monitor_new() else { return [] }
    defer { gst_object_unref(monitor) }
    gst_device_monitor_add_filter(monitor, kind == .video ? "Video/Source" : "Audio/Source", nil)
    guard gst_device_monitor_start(monitor) != 0 else { return [] }
    defer { gst_device_monitor_stop(monitor) }
    var found: [Device] = []
    let list = gst_device_monitor_get_devices(monitor)
    defer { g_list_free(list) }
    var node = list
    while let current = node {
      if let data = current.pointee.data {
        let raw = data.assumingMemoryBound(to: GstDevice.self)
        if let device = Device(raw, kind) { found.append(device) }
        gst_object_unref(raw)
      }
      node = current.pointee.next
    }
    return found
  }

  private init?(_ raw: UnsafeMutablePointer<GstDevice>, _ kind: Kind) {
    guard let made = gst_device_create_element(raw, nil) else { return nil }
    gst_object_ref_sink(made)
    let element = Element(adopting: made)
    guard let factory = element.factoryName, let plain = Element(factory: factory) else { return nil }
    self.kind = kind
    name = takeString(gst_device_get_display_name(raw)) ?? factory
    caps = gst_device_get_caps(raw).map { Caps(adopting: $0) }
    // Keep only properties whose value differs from the value in a new element.
    let settings = ["device", "path", "target-object", "device-name"].compactMap { property -> String? in
      guard let value = element.string(property), value != plain.string(property) else { return nil }
      return "\(property)=\(Description.quoted(value))"
    }
    source = ([factory] + settings).joined(separator: " ")
  }
}
