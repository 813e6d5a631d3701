import CGStreamer

/// Memory of frames: ordinary memory, or that of a graphics processor (caps features such as
/// `memory:GLMemory`).
extension Caps {
  /// Memory that `gst_video_frame_map` copies to where the processor can read it. Not `memory:DMABuf`: that
  /// marks memory that can't be mapped, or makes no sense when it is (gst/allocators/gstdmabuf.h).
  private static let mappable = ["memory:VAMemory", "memory:GLMemory"]

  /// These caps, with frames that can be mapped in ordinary memory.
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

  /// These caps, and after them those of the same frames in any memory that can be mapped.
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

  /// Caps that are in both, in the order of these caps; all of these where `other` is nil.
  package func intersection(_ other: Caps?) -> Caps {
    guard let other, let both = gst_caps_intersect_full(raw, other.raw, GST_CAPS_INTERSECT_FIRST) else { return self }
    return Caps(adopting: both)
  }
}
