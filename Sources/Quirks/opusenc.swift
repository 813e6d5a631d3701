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

  package static let opusencShortAudio = Quirk(
    "opusenc-short-audio", element: "opusenc", releases: .all,
    symptom: """
      Audio of less than a packet (20 ms) lacks what the encoder looks ahead, 6.5 ms: of 480 samples 168 remain.
      """,
    upstream: "`gst_opus_enc_encode`",
    workaround: "Such audio is refused.")

  static let opusenc = [opusencSurround, opusencShortAudio]
}
