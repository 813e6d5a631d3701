import GStreamer

extension Quirk {
  package static let y4mdecDepth = Quirk(
    "y4mdec-depth", element: "y4mdec", releases: .before(Release(1, 26)),
    symptom: """
      It takes samples of more than eight bits for samples of eight, and gives one wrong frame, and an error; 4:1:1 \
      and grey are errors.
      """,
    upstream: "1.26.2 reads them",
    workaround: "Such sources are refused, and the error names FFmpeg.")

  static let y4mdec = [y4mdecDepth]
}
