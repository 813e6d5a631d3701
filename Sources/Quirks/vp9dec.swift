import GStreamer

extension Quirk {
  package static let vp9decCopiedRGB = Quirk(
    "vp9dec-copied-rgb", element: "vp9dec", releases: .all,
    symptom:
      "Frames of RGB have their colours exchanged where the element behind it can't take planes that lie anywhere.",
    upstream: "`gst_vpx_dec_image_to_buffer`, which takes libvpx's planes, G, B, R, for R, G, B",
    workaround: "Its frames are taken as they lie, always.")

  static let vp9dec = [vp9decCopiedRGB]
}
