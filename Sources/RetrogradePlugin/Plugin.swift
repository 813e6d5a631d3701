import CGStreamer

/// Called by plugin.c when GStreamer loads libgstretrograde.so.
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
