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

  static let flacenc = [flacencSingleBlock]
}
