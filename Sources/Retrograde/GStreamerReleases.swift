import GStreamer

/// Release numbers of GStreamer and its plugins on this machine, for bug reports.
public struct GStreamerReleases: Sendable, Codable {
  /// Release of the GStreamer library, such as `1.26.2`.
  public var library: String
  /// Release numbers of the plugins, by plugin name, such as `libav: 1.26.2`. Contains only
  /// installed plugins on which most results depend.
  public var plugins: [String: String]

  /// Plugins that most results depend on, each with one of the plugin's elements.
  private static let elements = [
    "isomp4": "qtdemux", "matroska": "matroskamux", "mpegtsdemux": "tsdemux", "avi": "avidemux", "ogg": "oggmux",
    "wavparse": "wavparse", "audioparsers": "aacparse", "videoparsersbad": "h264parse", "libav": "avdec_h264",
    "x264": "x264enc", "x265": "x265enc", "vpx": "vp9enc", "aom": "av1enc", "svtav1": "svtav1enc", "opus": "opusenc",
    "flac": "flacenc", "soup": "souphttpsrc",
  ]

  package init() {
    library = "\(GStreamer.release)"
    plugins = Self.elements.compactMapValues { Registry.release(ofPluginWith: $0)?.description }
  }

  /// Report in up to three lines: the library's release, the plugins of a different release, the
  /// missing plugins.
  package var description: String {
    let others = plugins.filter { $0.value != library }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    let missing = Self.elements.keys.filter { plugins[$0] == nil }.sorted()
    return [
      "GStreamer \(library)",
      others.isEmpty ? nil : "plugins of other releases: \(others.joined(separator: ", "))",
      missing.isEmpty ? nil : "plugins not installed: \(missing.joined(separator: ", "))",
    ].compactMap(\.self).joined(separator: "\n")
  }
}
