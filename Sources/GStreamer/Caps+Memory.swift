import CGStreamer

/// Memory of frames: system memory or GPU memory (caps features such as `memory:GLMemory`).
extension Caps {
  /// Caps features of memory that `gst_video_frame_map` can copy to system memory. `memory:DMABuf`
  /// is excluded, because such memory cannot be mapped, or the mapping is useless
  /// (gst/allocators/gstdmabuf.h).
  private static let mappable = ["memory:VAMemory", "memory:GLMemory"]

  /// These caps, with system memory in place of any mappable memory.
  package var inSystemMemory: Caps {
    guard gst_caps_is_any(raw) == 0, let copy = gst_caps_copy(raw) else { return self }
    for index in 0..<gst_caps_get_size(copy) {
      guard let features = gst_caps_get_features(copy, index) else { continue }
      for feature in Caps.mappable where gst_caps_features_contains(features, feature) != 0 {
        gst_caps_features_remove(features, feature)
        gst_structure_remove_field(gst_caps_get_structure(copy, index), "texture-target")
      }
    }
    return Caps(adopting: gst_caps_simplify(copy) ?? copy)
  }

  /// These caps, followed by the same caps with each kind of mappable memory.
  package var inAnyMappableMemory: Caps {
    guard gst_caps_is_any(raw) == 0, let all = gst_caps_copy(raw) else { return self }
    for feature in Caps.mappable {
      for index in 0..<gst_caps_get_size(raw) where isInSystemMemory(index) {
        guard let structure = gst_structure_copy(gst_caps_get_structure(raw, index)) else { continue }
        gst_caps_append_structure_full(all, structure, gst_caps_features_new_single(feature))
      }
    }
    return Caps(adopting: all)
  }

  private func isInSystemMemory(_ index: guint) -> Bool {
    guard let features = gst_caps_get_features(raw, index),
      let plain = gst_caps_features_new_single("memory:SystemMemory")
    else { return true }
    defer { gst_caps_features_free(plain) }
    return gst_caps_features_is_equal(features, plain) != 0
  }

  /// Returns the intersection with `other`, in the order of these caps; these caps if `other` is
  /// nil.
  package func intersection(_ other: Caps?) -> Caps {
    guard let other, let both = gst_caps_intersect_full(raw, other.raw, GST_CAPS_INTERSECT_FIRST) else { return self }
    return Caps(adopting: both)
  }
}
