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

  package static let avdecGapFrames = Quirk(
    "avdec-gap-frames", element: "avdec_h264", releases: .before(Release(1, 28, 2)),
    symptom: """
      If FFmpeg asks for several buffers for one packet, the packet's frame is lost. It does so to make up missing \
      references: after a seek to a keyframe of H.264 or HEVC that is no IDR picture, and after damage. Frames that need \
      the lost one are damaged. Before 1.24 only with one thread.
      """,
    upstream: "`gst_ffmpegviddec_video_frame_free`; e55221d8ea, MR 10915 (80cd0eec2d in 1.28.2)",
    workaround: """
      A window that comes incomplete or damaged is decoded again, from the keyframe before its own; the windows after \
      it begin there at once.
      """)

  package static let avdecMJPEGContainerColors = Quirk(
    "avdec_mjpeg-container-colors", element: "avdec_mjpeg", releases: .all,
    symptom: """
      The container's colours override those of JPEG, which has full range. MOV cannot say the range: qtdemux of 1.26 \
      and later calls it limited, and frames look pale.
      """,
    upstream: "`gst_ffmpegviddec_negotiate`",
    workaround: "The caps that reach it have no `colorimetry`.")

  package static let avdecMissingTimes = Quirk(
    "avdec_mpeg2video-missing-times", element: "avdec_mpeg2video", releases: .all,
    symptom: """
      If some pictures of MPEG-2 with B-frames have no time, as in program streams with several pictures a packet, \
      frames get that of the next one that has one.
      """,
    upstream: "`gst_video_decoder_prepare_finish_frame`",
    workaround: "Frames without a time are shown evenly between those that have one (`DecodedTimes`).")

  package static let avdecWMAEnd = Quirk(
    "avdec_wmav2-end", element: "avdec_wmav2", releases: .all,
    symptom:
      "The last frame of WMA, which the decoder holds until it is drained, does not come: 2,048 samples at 48 kHz.",
    upstream: "`gst_ffmpegauddec_drain`, issue 1474",
    workaround: "None. A warning says how much is left out.")

  package static let avdecMJPEGFullRange411 = Quirk(
    "avdec_mjpeg-full-range-411", element: "avdec_mjpeg", releases: .all,
    symptom: "The process crashes on JPEG of 4:1:1 that libjpeg wrote: its pixel format has no name in GStreamer.",
    upstream: "`gst_ffmpegviddec_get_buffer2`",
    workaround: "Such JPEG is refused, and not written.")

  package static let avdecLeftCrop = Quirk(
    "avdec-left-crop", element: "avdec_h264", releases: .all,
    symptom: """
      The crop of H.264 and HEVC hides fewer columns at the left edge than declared: FFmpeg rounds their number down, \
      to keep the rows aligned.
      """,
    upstream: "`av_frame_apply_cropping`, `AV_CODEC_FLAG_UNALIGNED`",
    workaround: "The columns that are left are removed from the frames (`PictureCrop`).")

  static let avdec = [
    avdecNarrowerThanCoded, avdecUnnamedFormat, avdecGIFTimestamps, avdecGapFrames, avdecMJPEGContainerColors,
    avdecMissingTimes, avdecWMAEnd, avdecMJPEGFullRange411, avdecLeftCrop,
  ]
}
