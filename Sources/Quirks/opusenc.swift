import GStreamer

extension Quirk {
  package static let opusencSurround = Quirk(
    "opusenc-surround", element: "opusenc", releases: .before(Release(1, 28)),
    symptom: """
      Channels of 5.0, 6.1 and 7.1 come out exchanged: the table that puts the stereo pairs first is used in place \
      of its inverse.
      """,
    upstream: "`gst_opus_enc_setup_channel_mappings`, 7e6e3cd897, MR 10374",
    workaround: "The encoder gets the channels in an order that it turns into the right one.")

  static let opusenc = [opusencSurround]
}
