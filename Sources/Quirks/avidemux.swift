extension Quirk {
  package static let avidemuxKeyframeTimes = Quirk(
    "avidemux-keyframe-times", element: "avidemux", releases: .all,
    symptom: """
      It takes the time when a keyframe is decoded for the time when it is shown. With B-frames, the times that come \
      out of a decoder stand still or run back at keyframes.
      """,
    upstream: "`gst_avi_demux_loop_data`",
    workaround: """
      MPEG-4 is shown at the times at which it is decoded, in the order of the decoded frames; with B-frames it is \
      decoded from its packets (`PacketStore`), since a seek to a time leads to another frame.
      """)

  package static let avidemuxPixelAspect = Quirk(
    "avidemux-pixel-aspect", element: "avidemux", releases: .all,
    symptom: """
      If frames are stored from the top down, which a negative height says, the pixel aspect ratio is negative as well.
      """,
    upstream: "`gst_avi_demux_parse_stream`",
    workaround: "A ratio that is not positive is replaced by 1:1.")

  package static let avidemuxEmptyStream = Quirk(
    "avidemux-empty-stream", element: "avidemux", releases: .all,
    symptom: """
      A stream of which the file holds no packet, as where it is cut, has no pad, and a critical warning each time \
      that it would be its turn (`gst_flow_combiner_update_pad_flow: assertion 'pad != NULL' failed`). The other \
      streams are whole.
      """,
    upstream: "`gst_avi_demux_loop_data`",
    workaround: "The command prints the line once. What is missing of the file is named as of any that is cut.")

  static let avidemux = [avidemuxKeyframeTimes, avidemuxPixelAspect, avidemuxEmptyStream]
}
