import GStreamer

extension Quirk {
  package static let webpdecAnimation = Quirk(
    "webpdec-animation", element: "webpdec", releases: .all,
    symptom: "Animated WebP is not decoded.",
    upstream: "`gst_webp_dec_handle_frame`",
    workaround: "libwebp's own decoder of animations reads it (`AnimationReader`).")

  static let webpdec = [webpdecAnimation]
}
