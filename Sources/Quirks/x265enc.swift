import GStreamer

extension Quirk {
  package static let x265encHeader = Quirk(
    "x265enc-doubled-header", element: "x265enc", releases: .before(Release(1, 29, 3)),
    symptom: """
      With the metadata of HDR10, the first packet has its parameter sets and messages twice. Before 1.27.2, bytes that \
      were never written follow the first ones: if they happen to look like a NAL unit, `h265parse` splits the packet, \
      and a muxer refuses the part without a timestamp.
      """,
    upstream: "`gst_x265_enc_get_header_buffer`, 5801dd0593, 49b1cf5a94",
    workaround: "Of the first packet, only the last block of memory is kept, which has all of these.")

  package static let x265encFewFrames = Quirk(
    "x265enc-few-frames", element: "x265enc", releases: .all,
    symptom: """
      The decoding times of a stream of one or two frames are memory that was never set: x265 subtracts a delay \
      that it learns from the third frame.
      """,
    upstream: "`m_bframeDelayTime` in encoder.cpp of x265",
    workaround: "Such frames are decoded when they are shown.")

  static let x265enc = [x265encHeader, x265encFewFrames]
}
