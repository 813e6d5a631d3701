import GStreamer

extension Quirk {
  package static let pngdecAnimation = Quirk(
    "pngdec-animation", element: "pngdec", releases: .all,
    symptom: "The first frame of an animated PNG is its only one.",
    workaround: "`AnimationReader` makes a PNG of each frame.")

  static let pngdec = [pngdecAnimation]
}
