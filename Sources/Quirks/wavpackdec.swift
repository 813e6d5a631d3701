import GStreamer

extension Quirk {
  package static let wavpackdecMutedBlock = Quirk(
    "wavpackdec-muted-block", element: "wavpackdec", releases: .all,
    symptom: "A block whose samples do not have the sum that its header says is silent, without a word.",
    upstream: "`gst_wavpack_dec_handle_frame`; libwavpack's `unpack_samples`, which counts the error",
    workaround: """
      The headers of packets are read. A packet that holds sound, and that comes out silent, is named as one that \
      can't be decoded.
      """)

  static let wavpackdec = [wavpackdecMutedBlock]
}
