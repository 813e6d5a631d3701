extension Quirk {
  package static let jpeg2000parseBox = Quirk(
    "jpeg2000parse-box", element: "jpeg2000parse", releases: .all,
    symptom: """
      It removes the boxes that MOV has around a codestream, which say whether the colours are RGB or YUV.
      """,
    upstream: "`gst_jpeg2000_parse_handle_frame`; b28049e95d reads the colours first",
    workaround: "Packets that are not interlaced go to the decoder as they are.")

  static let jpeg2000parse = [jpeg2000parseBox]
}
