import GStreamer

extension Quirk {
  package static let flacencSingleBlock = Quirk(
    "flacenc-single-block", element: "flacenc", releases: .before(Release(1, 28)),
    symptom: """
      Audio of one block is left out by `encodebin`: the segment comes before the caps, and the parser behind drops \
      the block.
      """,
    upstream: "`gst_flac_enc_process_stream_headers`",
    workaround: """
      `blocksize` is set to make two blocks; audio of under 17 samples is refused. Newer releases need neither.
      """)

  package static let flacencSurround = Quirk(
    "flacenc-surround", element: "flacenc", releases: .before(Release(1, 28)),
    symptom: """
      Channels of 6.1 and 7.1 are written for other loudspeakers than FLAC's specification has (RFC 9639): centre \
      and bass are exchanged with the rear pair.
      """,
    upstream: "`channel_positions`, 79f2458803, MR 10375",
    workaround: "The encoder gets the channels in an order that it turns into the right one.")

  package static let flacencPictures = Quirk(
    "flacenc-pictures", element: "flacenc", releases: .before(Release(1, 22, 2)),
    symptom: """
      Pictures of no known type become icons, of which FLAC has room for one: two of them, and it can't be started.
      """,
    upstream: "`gst_flac_enc_set_metadata`, 7e2a0779c3",
    workaround: "Their type is set to none, which becomes FLAC's “other”.")

  static let flacenc = [flacencSingleBlock, flacencSurround, flacencPictures]
}
