extension Quirk {
  package static let avidemuxKeyframeTimes = Quirk(
    "avidemux-keyframe-times", element: "avidemux", releases: .all,
    symptom: """
      It takes the time when a keyframe is decoded for the time when it is shown. With B-frames, the times that come \
      out of a decoder stand still or run back at keyframes.
      """,
    upstream: "`gst_avi_demux_loop_data`",
    workaround: "MPEG-4 is shown at the times at which it is decoded, in the order of the decoded frames.")

  package static let avidemuxPixelAspect = Quirk(
    "avidemux-pixel-aspect", element: "avidemux", releases: .all,
    symptom: """
      If frames are stored from the top down, which a negative height says, the pixel aspect ratio is negative as well.
      """,
    upstream: "`gst_avi_demux_parse_stream`",
    workaround: "A ratio that is not positive is replaced by 1:1.")

  static let avidemux = [avidemuxKeyframeTimes, avidemuxPixelAspect]
}
