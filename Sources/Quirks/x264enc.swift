import GStreamer

extension Quirk {
  package static let x264encBufferInConstantQuality = Quirk(
    "x264enc-vbv-in-constant-quality", element: "x264enc", releases: .all,
    symptom: "`bitrate` limits the rate (VBV) in the constant-quality modes too.",
    upstream: "`gst_x264_enc_init_encoder`",
    workaround: "`vbv-buf-capacity=0`.")

  package static let x264encOddSize = Quirk(
    "x264enc-odd-size", element: "x264enc", releases: .all,
    symptom: "Odd widths and heights pass its caps in formats of halved colour; then it does not start.",
    workaround: "Such frames are encoded in 4:4:4, or another codec is taken.")

  package static let x264encLargestSize = Quirk(
    "x264enc-largest-size", element: "x264enc", releases: .all,
    symptom: "Frames over 16,384 pixels wide or high pass its caps; then it does not start.",
    workaround: "They are refused before anything starts.")

  package static let x264encLateSegment = Quirk(
    "x264enc-late-segment", element: "x264enc", releases: .all,
    symptom: "Timestamps begin at a thousand hours, so that decoding timestamps are not negative.",
    upstream: "`gst_video_encoder_set_min_pts`",
    workaround: "Packets are read by stream time.")

  static let x264enc = [
    x264encBufferInConstantQuality, x264encOddSize, x264encLargestSize, x264encLateSegment,
  ]
}
