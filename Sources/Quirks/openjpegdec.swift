import GStreamer

extension Quirk {
  package static let openjpegdecChroma = Quirk(
    "openjpegdec-chroma", element: "openjpegdec", releases: .all,
    symptom: """
      Three components are taken for RGB if the caps do not say what they are, and refused if colour is halved, \
      though the packets may say that it is YUV.
      """,
    upstream: "`gst_openjpeg_dec_negotiate`",
    workaround: "`avdec_jpeg2000` decodes JPEG 2000 of one component, of eight bits, or with halved colour.")

  static let openjpegdec = [openjpegdecChroma]
}
