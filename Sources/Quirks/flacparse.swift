import GStreamer

extension Quirk {
  package static let flacparseLastBlock = Quirk(
    "flacparse-last-block", element: "flacparse", releases: .before(Release(1, 28)),
    symptom: """
      At the end flacenc seeks back to byte 26, to complete its header. flacparse converts that to a time, and \
      drops the last block if it ends before: of short audio that is silent, for example.
      """,
    upstream: "`gst_base_parse_push_frame`, ba05421ab2 (`disable-clip`)",
    workaround: "The rewritten header, which flacparse drops too, is kept from it.")

  static let flacparse = [flacparseLastBlock]
}
