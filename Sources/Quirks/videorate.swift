import GStreamer

extension Quirk {
  package static let videorateSpeedWithoutRate = Quirk(
    "videorate-speed-without-rate", element: "videorate", releases: .all,
    symptom: """
      With `rate`, frames that come at no fixed rate (`framerate=0/1`) are repeated without end; since 1.28 the \
      process crashes instead.
      """,
    upstream: "`gst_video_rate_transform_ip`; 51d43529c3 has the assertion",
    workaround: "Such a pipeline fails, with a message that says what to put before `videorate`.")

  static let videorate = [videorateSpeedWithoutRate]
}
