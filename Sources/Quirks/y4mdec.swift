import GStreamer

extension Quirk {
  package static let y4mdecDepth = Quirk(
    "y4mdec-depth", element: "y4mdec", releases: .before(Release(1, 26)),
    symptom: """
      It takes samples of more than eight bits for samples of eight: it gives one wrong frame, and an error.
      """,
    upstream: "1.26.2 reads them",
    workaround: "A source of that depth is refused, and the error names FFmpeg.")

  static let y4mdec = [y4mdecDepth]
}
