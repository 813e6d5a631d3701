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

  static let videoconvert = [videoconvertAlphaForOpaque, videoconvertUnsaidColorimetry]
}
