import GStreamer

extension Quirk {
  package static let avencAACUnranked = Quirk(
    "avenc_aac-unranked", element: "avenc_aac", releases: .all,
    symptom: "`encodebin` passes over it, for `voaacenc`, which has only mono and stereo.",
    upstream: "`gst_ffmpegaudenc_register`, bug 691617: from when FFmpeg's encoder was experimental",
    workaround: "Its rank is raised while an encoder is chosen.")

  package static let avencAACPriming = Quirk(
    "avenc_aac-priming", element: "avenc_aac", releases: .all,
    symptom: "Nothing says that 1,024 samples of priming come before the first sample, so audio is late.",
    upstream: "`gst_ffmpegaudenc_receive_packet`",
    workaround: "The delay of an encoder is measured: noise is encoded, and looked for in the decoded audio.")

  package static let avencAACMidSide = Quirk(
    "avenc_aac-ms", element: "avenc_aac", releases: .before(Release(1, 24)),
    symptom: """
      All of stereo is coded as sum and difference: what is heard on one side only comes out of both. FFmpeg itself \
      decides that for each band.
      """,
    upstream: "FFmpeg's -1, for either, is read as a boolean, and so as true: 6d94b77ae8",
    workaround: "It is set to false.")

  package static let avencExperimental = Quirk(
    "avenc-experimental", element: "avenc_dca", releases: .all,
    symptom: """
      `avenc_dca`, `avenc_mlp` and `avenc_truehd` have a rank, but fail: FFmpeg calls them experimental, and no \
      property allows that.
      """,
    upstream: "`gst_ffmpegaudenc_register`, `AV_CODEC_CAP_EXPERIMENTAL`",
    workaround: "They have no rank while an encoder is chosen.")

  package static let avencWMAAlignment = Quirk(
    "avenc_wma-alignment", element: "avenc_wmav2", releases: .before(Release(1, 26)),
    symptom: """
      The process crashes on processors with AVX: samples are given to FFmpeg as they lie in a buffer, and it \
      works on them with instructions that need them aligned to 32 bytes.
      """,
    upstream: "`gst_ffmpegaudenc_send_frame`, 9b536630f1 (MR 8318)",
    workaround: "Windows Media Audio becomes the usual codec of the container, on all releases.")

  static let avenc = [avencAACUnranked, avencAACPriming, avencAACMidSide, avencExperimental, avencWMAAlignment]
}
