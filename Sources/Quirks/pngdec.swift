import GStreamer

extension Quirk {
  package static let pngdecAnimation = Quirk(
    "pngdec-animation", element: "pngdec", releases: .all,
    symptom: "The first frame of an animated PNG is its only one.",
    workaround: "`AnimationReader` makes a PNG of each frame.")

  package static let pngdecDeepRGB = Quirk(
    "pngdec-deep-rgb", element: "pngdec", releases: .all,
    symptom: """
      The first pixel of RGB of 16 bits is transparent, though nothing of the image is. Before 1.22.4 the channels \
      are exchanged, too.
      """,
    upstream: "476d350b03, for the channels",
    workaround: "Such video is refused, with what to do.")

  static let pngdec = [pngdecAnimation, pngdecDeepRGB]
}
