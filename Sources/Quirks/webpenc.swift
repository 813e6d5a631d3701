import GStreamer

extension Quirk {
  package static let webpencSingleFrames = Quirk(
    "webpenc-single-frames", element: "webpenc", releases: .before(Release(1, 23, 1)),
    symptom: """
      Animations are not written: each frame is a file of its own, and `animated` is no \
      property.
      """,
    upstream: "a6409525ef",
    workaround: "Animations are written by libwebp on all releases, with limits of size.",
    probe: { !Registry.property("animated", of: "webpenc") })

  static let webpenc = [webpencSingleFrames]
}
