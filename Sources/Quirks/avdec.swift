import GStreamer

extension Quirk {
  package static let avdecNarrowerThanCoded = Quirk(
    "avdec-narrower-than-coded", element: "avdec_h264",
    releases: .from(Release(1, 24), until: Release(1, 28)),
    symptom: """
      The process crashes now and then (`video meta uses 432x240 instead of 426x240`) if video is narrower than it \
      is coded and a pool is offered: threads of FFmpeg 6 and later replace the pool while it is negotiated.
      """,
    upstream: "`gst_ffmpegviddec_ensure_internal_pool`; MR 10306 (a501cb9376, 2bfecda69a)",
    workaround: "A pool is offered once for the same caps: a decoder that asks again has dropped it.")

  package static let avdecUnnamedFormat = Quirk(
    "avdec-unnamed-format", element: "avdec_ffv1", releases: .all,
    symptom: """
      Frames of a pixel format without a name in GStreamer, such as FFmpeg's `rgb48`, are given memory all the \
      same: a crash, or an error after a critical warning.
      """,
    upstream: "`gst_ffmpegviddec_ensure_internal_pool`",
    workaround: """
      They are refused before decoding: H.264 and HEVC by their caps, FFV1 by the parameters that it begins with \
      (`FFV1PixelFormat`). Formats in the decoder's caps template are decoded.
      """)

  package static let avdecGIFTimestamps = Quirk(
    "avdec_gif-timestamps", element: "avdec_gif", releases: .before(Release(1, 24)),
    symptom: "All frames are stamped with 0.",
    upstream: "`gst_ffmpegviddec_video_frame`, 4dc955e94a",
    workaround: "Frames of GIF take the times of their packets, on all releases.")

  static let avdec = [
    avdecNarrowerThanCoded, avdecUnnamedFormat, avdecGIFTimestamps,
  ]
}
