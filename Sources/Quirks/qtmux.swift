import GStreamer

/// mp4mux and qtmux share one implementation.
extension Quirk {
  package static let qtmuxOpusByteOrder = Quirk(
    "qtmux-opus-byte-order", element: "mp4mux", releases: .before(Release(1, 22, 4)),
    symptom:
      "The numbers in Opus's header (`dOps`) are little-endian: 312 samples of priming read as 14,337.",
    upstream: "`build_opus_extension`, f3496ea3bf",
    workaround: "Their bytes are put in order in the finished file.")

  package static let qtmuxOpusPriming = Quirk(
    "qtmux-opus-priming", element: "mp4mux", releases: .all,
    symptom: """
      The edit list plays Opus's priming, and the first packet is shorter by it: audio is 6.5 ms \
      late.
      """,
    upstream: "`gst_qt_mux_update_edit_lists`",
    workaround: """
      In the finished file the first packet has its whole duration, and the edit begins after \
      the priming.
      """)

  package static let qtmuxAudioPriming = Quirk(
    "qtmux-audio-priming", element: "mp4mux", releases: .all,
    symptom: """
      The edit list plays the samples that an AAC encoder puts before the first one: audio is \
      late by 1,024.
      """,
    upstream: "`gst_qt_mux_update_edit_lists`",
    workaround:
      "In the finished file the edit begins after the measured priming, and ends with the audio.")

  package static let qtmuxVideoDuration = Quirk(
    "qtmux-video-duration", element: "mp4mux", releases: .all,
    symptom: """
      The edit of a video with B-frames and a variable rate lasts as long as its decoding times, \
      which can end before the last frame begins: players leave that frame out. A last frame that is shown for longer \
      than others ends early.
      """,
    upstream: "`gst_qt_mux_add_buffer`, which makes durations of differences of DTS",
    workaround: "In the finished file the edit and the media last until the last frame ends.")

  package static let qtmuxOrientation = Quirk(
    "qtmux-orientation", element: "mp4mux", releases: .before(Release(1, 25, 50)),
    symptom: "The tag `image-orientation` is not written: rotated video lies on its side.",
    upstream: "1fc6f0d349, MR 8371; in 1.24.13 too",
    workaround: """
      The matrix is set in the finished file; newer releases write the same one, without its \
      offsets.
      """)

  package static let qtmuxGlobalOrientation = Quirk(
    "qtmux-global-orientation", element: "mp4mux", releases: .since(Release(1, 25, 50)),
    symptom: """
      The tag `image-orientation` of the file as a whole rotates every video that has none \
      itself.
      """,
    upstream: "`gst_qt_mux_setup_metadata`, 1fc6f0d349, MR 8371; in 1.24.13 too",
    workaround: "Tags of the whole file go to the muxer without it.")

  package static let qtmuxTrackFlags = Quirk(
    "qtmux-track-flags", element: "mp4mux", releases: .all,
    symptom: "All tracks are enabled (`tkhd`), so players have no default among several of a kind.",
    upstream: "`atom_tkhd_init`",
    workaround: "The flags are set in the finished file.")

  package static let qtmuxChapters = Quirk(
    "qtmux-chapters", element: "mp4mux", releases: .all,
    symptom: "No chapters are written: the muxer is no `GstTocSetter`.",
    workaround: "A list of chapters (`chpl`) is added to the finished file.")

  package static let qtmuxShowNumbers = Quirk(
    "qtmux-show-numbers", element: "mp4mux", releases: .all,
    symptom: """
      The tags `show-season-number` and `show-episode-number` are written as texts of two bytes, which no demuxer \
      reads.
      """,
    upstream: "`gst_qt_mux_add_mp4_tag`, `atom_udta_add_uint_tag`",
    workaround: "The muxer does not get them; they are added to the finished file (`MP4Tag`).")

  package static let qtmuxOverlappingText = Quirk(
    "qtmux-overlapping-text", element: "mp4mux", releases: .all,
    symptom: "A subtitle that begins before the last one ends gets a gap of negative length before it.",
    upstream: "`gst_qt_mux_add_buffer`, `empty_duration`",
    workaround: "Each subtitle ends where the next one begins.")

  package static let qtmuxChromaSite = Quirk(
    "qtmux-chroma-site", element: "mp4mux", releases: .before(Release(1, 28)),
    symptom: "VP9 4:2:0 whose caps have no `chroma-site` crashes the process (SIGSEGV).",
    upstream: "`gst_qt_mux_video_sink_set_caps`, f05d2b6cd1, MR 10525",
    workaround: "Such caps get `chroma-site=mpeg2`, which is what `vpcC` says by default.")

  package static let qtmuxVP9Level = Quirk(
    "qtmux-vp9-level", element: "mp4mux", releases: .before(Release(1, 29, 1)),
    symptom: """
      VP9's header (`vpcC`) has level 1.0 for every size, so browsers are told of a codec that \
      does not fit.
      """,
    upstream: "`build_vpcC_extension`; 5962fe45b8 reads it from the codec data",
    workaround: "Segments of a stream name the lowest level that has room for the video.")

  package static let qtmuxViewOrder = Quirk(
    "qtmux-view-order", element: "mp4mux", releases: .all,
    symptom: """
      The description of stereoscopic video (`svmi`) says that the right view is the first if it is the left one.
      """,
    upstream: "`gst_qt_mux_video_sink_set_caps`, `atom_svmi_new`",
    workaround: "The caps that reach it have the opposite flag.")

  static let qtmux = [
    qtmuxOpusByteOrder, qtmuxOpusPriming, qtmuxAudioPriming, qtmuxVideoDuration, qtmuxOrientation,
    qtmuxGlobalOrientation, qtmuxTrackFlags, qtmuxChapters, qtmuxShowNumbers, qtmuxOverlappingText, qtmuxChromaSite,
    qtmuxVP9Level, qtmuxViewOrder,
  ]
}
