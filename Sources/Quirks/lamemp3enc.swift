import GStreamer

extension Quirk {
  package static let lamemp3encPriming = Quirk(
    "lamemp3enc-priming", element: "lamemp3enc", releases: .all,
    symptom: "Nothing says that 1,105 samples of priming come before the first sample, so audio is late.",
    upstream: "`gst_lamemp3enc_handle_frame`",
    workaround: "The delay of an encoder is measured: noise is encoded, and looked for in the decoded audio.")

  static let lamemp3enc = [lamemp3encPriming]
}
