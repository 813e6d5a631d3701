import GStreamer

extension Quirk {
  package static let flacdecSurround = Quirk(
    "flacdec-surround", element: "flacdec", releases: .before(Release(1, 28)),
    symptom: """
      Channels of 6.1 and 7.1 are for other loudspeakers than FLAC's specification has (RFC 9639): centre and bass \
      are exchanged with the rear pair.
      """,
    upstream: "`channel_positions`, 79f2458803, MR 10375",
    workaround: "`avdec_flac` decodes FLAC of seven and eight channels.")

  package static let flacdecFormatChange = Quirk(
    "flacdec-format-change", element: "flacdec", releases: .since(Release(1, 26)),
    symptom: """
      Packets of another rate, depth or number of channels end the stream: flacparse announces them by caps without \
      `streamheader`, which flacdec refuses.
      """,
    upstream: "`gst_flac_dec_set_format`; `gst_flac_parse_frame_header_update`, f9845d0266",
    workaround: "`avdec_flac` decodes FLAC files that change.")

  static let flacdec = [flacdecSurround, flacdecFormatChange]
}
