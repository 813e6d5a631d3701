extension Quirk {
  package static let h265parseContainerColors = Quirk(
    "h265parse-container-colors", element: "h265parse", releases: .all,
    symptom: """
      The container's colours override the stream's. FFmpeg and most players believe the stream (SPS) first.
      """,
    upstream: "`gst_h265_parse_update_src_caps`",
    workaround: "The caps that reach it have no `colorimetry`.")

  static let h265parse = [h265parseContainerColors]
}
