import GStreamer

extension Quirk {
  package static let jpegparseRank = Quirk(
    "jpegparse-rank", element: "jpegparse", releases: .before(Release(1, 24)),
    symptom: "Its rank is NONE, so parsebin leaves it out and gives decoders a JPEG file in pieces.",
    upstream: "`GST_RANK_PRIMARY` since 1.24",
    workaround: "It is named in the pipeline, on all releases.")

  static let jpegparse = [jpegparseRank]
}
