import GStreamer

extension Quirk {
  package static let pngdecAnimation = Quirk(
    "pngdec-animation", element: "pngdec", releases: .all,
    symptom: "The first frame of an animated PNG is its only one.",
    workaround: "`AnimationReader` makes a PNG of each frame.")

  package static let pngdecDeepRGB = Quirk(
    "pngdec-deep-rgb", element: "pngdec", releases: .before(Release(1, 22, 4)),
    symptom: "The channels of RGB of 16 bits are exchanged, and the blue of a row's last pixel is lost.",
    upstream: "476d350b03",
    workaround: "Such video is refused, with what to do.")

  static let pngdec = [pngdecAnimation, pngdecDeepRGB]
}
