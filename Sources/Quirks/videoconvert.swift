import GStreamer

extension Quirk {
  package static let videoconvertAlphaForOpaque = Quirk(
    "videoconvert-alpha-for-opaque", element: "videoconvert", releases: .all,
    symptom: "Frames without transparency become RGBA before an encoder that takes RGB as well, such as `pngenc`.",
    upstream: "`score_format_change` (video-converter)",
    workaround: "The formats without transparency are named in caps before the encoder.")

  package static let videoconvertUnsaidColorimetry = Quirk(
    "videoconvert-unsaid-colorimetry", element: "videoconvert", releases: .all,
    symptom: "Frames that do not say their colours become others than frames that name the same ones.",
    upstream: "`set_default_colorimetry`",
    workaround: "The colours that GStreamer takes for granted are named in the caps of such frames.")

  package static let videoconvertRange = Quirk(
    "videoconvert-range", element: "videoconvert", releases: .all,
    symptom: "Limited range does not become full range, nor full range limited, if the matrix is the same.",
    upstream: "`video_converter_lookup_fastpath`, `chain_convert`",
    workaround: "`videobalance` converts the range of frames for JPEG and Theora.")

  static let videoconvert = [videoconvertAlphaForOpaque, videoconvertUnsaidColorimetry, videoconvertRange]
}
