import CGStreamer
import CVersion
import GStreamer
import RetrogradeEngine

/// Entry point that plugin.c calls when GStreamer loads libgstretrograde.so.
@_cdecl("retrograde_register_elements")
func registerElements(_ plugin: OpaquePointer?) -> gboolean {
  let elements: [(name: String, rank: GstRank, type: GType)] = [
    ("videoreverse", GST_RANK_NONE, VideoReverse.type),
    ("audioreverse", GST_RANK_NONE, AudioReverse.type),
    ("reversesrc", GST_RANK_NONE, ReverseSource.type),
  ]
  for element in elements
  where gst_element_register(plugin, element.name, guint(element.rank.rawValue), element.type) == 0 { return 0 }
  return 1
}

/// Registers the elements in this process, for programs that are linked with them.
package enum RetrogradeElements {
  private static let registered: Bool = {
    guard (try? GStreamer.initialize()) != nil else { return false }
    return gst_plugin_register_static(
      GST_VERSION_MAJOR, GST_VERSION_MINOR, "retrograde-linked", "Reverses video and audio",
      { registerElements($0) }, RETROGRADE_VERSION, "MIT/X11", "Retrograde", "Retrograde", "retrograde") != 0
  }()

  /// - Throws: ``RetrogradeError`` if GStreamer refuses an element.
  package static func register() throws {
    guard registered else {
      throw RetrogradeError(.internalFailure, "GStreamer refused to register Retrograde's elements")
    }
  }
}
