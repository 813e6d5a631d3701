import GStreamer

extension Quirk {
  package static let h264parseParameterSets = Quirk(
    "h264parse-parameter-sets", element: "h264parse", releases: .all,
    symptom: """
      It puts parameter sets into the first packet of AVC, which has them in its caps: always since 1.26, after a seek \
      before.
      """,
    upstream: "`gst_h264_parse_pre_push_frame`, `push_codec`; 9accf21e53",
    workaround: "Packets that are copied come from the demuxer, without the parser.")

  package static let h264parseContainerColors = Quirk(
    "h264parse-container-colors", element: "h264parse", releases: .all,
    symptom: """
      The container's colours override the stream's. FFmpeg and most players believe the stream (SPS) first.
      """,
    upstream: "`gst_h264_parse_update_src_caps`",
    workaround: "The caps that reach it have no `colorimetry`.")

  package static let h264parseDurations = Quirk(
    "h264parse-durations", element: "h264parse", releases: .before(Release(1, 28, 1)),
    symptom: """
      Packets without a frame rate lose their durations: none is left on 1.26, and 1 ns on 1.22. The last frame of \
      an MP4 then lasts 0 s, and is cut off.
      """,
    upstream: "e33eb20289, 2e009591b1",
    workaround: "Packets get the durations that they had before the parser.")

  package static let h264parseTimeBase = Quirk(
    "h264parse-time-base", element: "h264parse", releases: .all,
    symptom: """
      Encoders of a variable rate name its time base. Before 1.24 this is the frame rate, such as 10⁹; since then there \
      is none (0/1), even if all frames last equally long.
      """,
    upstream: "`gst_h264_parse_update_src_caps`, ad30fb87c2",
    workaround: """
      In transport and program streams, which name no rates, even frames get the rate that they have.
      """)

  static let h264parse = [
    h264parseParameterSets, h264parseContainerColors, h264parseDurations, h264parseTimeBase,
  ]
}
