import GStreamer

extension Quirk {
  package static let videocropFormats = Quirk(
    "videocrop-formats", element: "videocrop", releases: .all,
    symptom: "Many formats are not cropped, among them NV16, P010 and those with 16 bits of colour.",
    upstream: "`VIDEO_CROP_CAPS`",
    workaround: "Frames are first converted to a format that is.")

  static let videocrop = [videocropFormats]
}
