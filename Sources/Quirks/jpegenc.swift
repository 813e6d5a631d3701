import GStreamer

extension Quirk {
  package static let jpegencRowPadding = Quirk(
    "jpegenc-row-padding", element: "jpegenc", releases: .all,
    symptom: """
      libjpeg reads whole blocks of each row. If the width is no multiple of a block, it encodes the bytes that happen \
      to lie behind the row, others in each run.
      """,
    upstream: "`gst_jpegenc_handle_frame`",
    workaround: """
      Frames of such a width are copied into longer rows, behind whose last pixel it is repeated. Formats without \
      planes, whose rows the encoder itself copies, are converted first.
      """)

  static let jpegenc = [jpegencRowPadding]
}
