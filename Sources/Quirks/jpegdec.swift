import GStreamer

extension Quirk {
  package static let jpegdecChroma = Quirk(
    "jpegdec-chroma", element: "jpegdec", releases: .all,
    symptom: "4:2:2 and 4:4:4 become 4:2:0.",
    upstream: "`gst_jpeg_dec_decode_indirect`",
    workaround: "`avdec_mjpeg` decodes JPEG.")

  static let jpegdec = [jpegdecChroma]
}
