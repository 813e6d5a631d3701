import CGStreamer

/// Release number of GStreamer or of a plugin, such as 1.26.2.
package struct Release: Comparable, Hashable, Sendable, CustomStringConvertible {
  package let major: Int
  package let minor: Int
  package let micro: Int

  package init(_ major: Int, _ minor: Int, _ micro: Int = 0) {
    (self.major, self.minor, self.micro) = (major, minor, micro)
  }

  /// Parses `1.26.2`; a suffix as in `1.26.2.1` (a build from git) is ignored. nil if the text is
  /// not a release.
  package init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).prefix(3).map { Int($0) }
    guard parts.count >= 2, let major = parts[0], let minor = parts[1] else { return nil }
    self.init(major, minor, parts.count > 2 ? parts[2] ?? 0 : 0)
  }

  package static func < (a: Release, b: Release) -> Bool {
    (a.major, a.minor, a.micro) < (b.major, b.minor, b.micro)
  }

  package var description: String { "\(major).\(minor).\(micro)" }
}

extension GStreamer {
  /// Release number of the GStreamer library in use (`gst_version`).
  package static var release: Release {
    var (major, minor, micro, nano): (guint, guint, guint, guint) = (0, 0, 0, 0)
    gst_version(&major, &minor, &micro, &nano)
    return Release(Int(major), Int(minor), Int(micro))
  }
}

extension Registry {
  /// Returns the release of the plugin that contains `factory` (`gst_plugin_get_version`); nil if
  /// no plugin contains the factory, or the plugin's version is not a release.
  package static func release(ofPluginWith factory: String) -> Release? {
    guard (try? GStreamer.initialize()) != nil, let found = gst_element_factory_find(factory) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(found)) }
    guard let plugin = gst_plugin_feature_get_plugin(found) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(plugin)) }
    return gst_plugin_get_version(plugin).flatMap { Release(String(cString: $0)) }
  }
}
