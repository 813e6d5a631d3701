import GStreamer

extension Quirk {
  package static let y4mdecDepth = Quirk(
    "y4mdec-depth", element: "y4mdec", releases: .before(Release(1, 26)),
    symptom: """
      It takes samples of more than eight bits for samples of eight, and gives one wrong frame, and an error; 4:1:1 \
      and grey are errors.
      """,
    upstream: "1.26.2 reads them",
    workaround: "Such sources are refused, and the error names FFmpeg.")

  package static let y4mdecFieldOrder = Quirk(
    "y4mdec-field-order", element: "y4mdec", releases: .all,
    symptom: "The caps of interlaced video do not say which field comes first; the file does.",
    upstream: "`gst_y4m_dec_parse_header`",
    workaround: "It is read from the file, and added to the caps.")

  static let y4mdec = [y4mdecDepth, y4mdecFieldOrder]
}
