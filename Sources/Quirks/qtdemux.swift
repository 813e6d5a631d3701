import GStreamer

extension Quirk {
  package static let qtdemuxPrimingEnd = Quirk(
    "qtdemux-priming-end", element: "qtdemux", releases: .before(Release(1, 22, 3)),
    symptom: """
      It compares the time in the media, which counts the encoder's priming, with the duration of the file: audio that \
      lasts as long as the file, as in every .m4a, loses its last packet.
      """,
    upstream: "`gst_qtdemux_loop_state_movie`, 3d3d2ed447",
    workaround: "It reads a longer duration of the file (`MP4Corrections`).")

  package static let qtdemuxEditEnd = Quirk(
    "qtdemux-edit-end", element: "qtdemux", releases: .all,
    symptom: """
      It ends an edit at the first packet that is decoded at or after the edit's end. With offsets below 0 in `ctts`, \
      that packet or one after it may be shown earlier, and is lost.
      """,
    upstream: "`gst_qtdemux_advance_sample`",
    workaround: "It reads a longer last edit (`MP4Corrections`); the stream ends where the file says.")

  package static let qtdemuxTrackEnd = Quirk(
    "qtdemux-track-end", element: "qtdemux", releases: .all,
    symptom: """
      It ends a track without edits at the track's duration. Android's MediaMuxer does not count the last sample, \
      which is lost; so are the last frames of a video with B-frames, which are all shown later than they are decoded.
      """,
    upstream: "`gst_qtdemux_advance_sample`",
    workaround: "It reads a longer duration of the track (`MP4Corrections`).")

  package static let qtdemuxShortTracks = Quirk(
    "qtdemux-short-tracks", element: "qtdemux", releases: .all,
    symptom: "A track of less than a fifth of the movie is left out: it is taken for a preview.",
    upstream: "`qtdemux_parse_trak`",
    workaround:
      "The demuxer reads a longer duration of the media (`MP4Corrections`), but not of a second video or audio.")

  package static let qtdemuxFragmentEnd = Quirk(
    "qtdemux-fragment-end", element: "qtdemux", releases: .all,
    symptom: """
      If the header of a fragmented MP4 declares the duration of its first part only, as `ffmpeg -movflags \
      frag_keyframe` writes it, and the video has B-frames and no edit list, the last frame of fragments is lost.
      """,
    upstream: "`check_update_duration`",
    workaround: "The demuxer reads the duration of all fragments (`FragmentCorrections`).")

  package static let qtdemuxFragmentOffsets = Quirk(
    "qtdemux-fragment-offsets", element: "qtdemux", releases: .all,
    symptom: """
      With composition offsets below 0 in fragments, as in CMAF, it shifts each fragment by the lowest offset in it: \
      frames of the other fragments get wrong times, some earlier than those before.
      """,
    upstream: "`qtdemux_parse_trun`, bb5a5ae8a8",
    workaround: """
      The demuxer reads offsets of at least 0, and an edit list that starts as much later (`FragmentCorrections`). A \
      file without room for that is refused.
      """)

  package static let qtdemuxLoudspeakers = Quirk(
    "qtdemux-loudspeakers", element: "qtdemux", releases: .before(Release(1, 26, 2)),
    symptom: "It does not read which loudspeakers the channels of PCM in MOV are for (`chan`).",
    upstream: "737f653e7c",
    workaround: "They are read from the file (`ChannelLayout`), on all releases.")

  package static let qtdemuxByteOrder = Quirk(
    "qtdemux-byte-order", element: "qtdemux", releases: .before(Release(1, 26, 2)),
    symptom: """
      It takes little-endian samples of 32 and 64 bits in MOV (`in32`, `fl32`, `fl64` with `enda`) for big-endian \
      ones: they become noise.
      """,
    upstream: "cba7ce1228",
    workaround: "The order is read from the file (`MP4Track`), on all releases.")

  package static let qtdemuxMatrix = Quirk(
    "qtdemux-matrix", element: "qtdemux", releases: .all,
    symptom: "A display matrix that turns the picture and scales it gets no orientation tag, or a wrong one.",
    upstream: "`qtdemux_inspect_transformation_matrix`, `qtdemux_mul_transformation_matrix`",
    workaround: "The orientation is read from the file (`MP4Matrix`).")

  package static let qtdemuxPixelAspect = Quirk(
    "qtdemux-pixel-aspect", element: "qtdemux", releases: .all,
    symptom: """
      It reads the shape of pixels (`pasp`) of some codecs only: raw video has square ones, and so have MJPEG, PNG and \
      FFV1 on 1.22.
      """,
    upstream: "`qtdemux_parse_node`",
    workaround: "It is read from the file (`MP4Track`).")

  package static let qtdemuxFieldOrder = Quirk(
    "qtdemux-field-order", element: "qtdemux", releases: .all,
    symptom: "It does not read that raw video and PNG in MOV are made of fields, and which comes first (`fiel`).",
    upstream: "`qtdemux_parse_node`",
    workaround: "It is read from the file (`MP4Track`).")

  package static let qtdemuxRawFormats = Quirk(
    "qtdemux-raw-formats", element: "qtdemux", releases: .all,
    symptom: """
      Raw video of MOV in 4:4:4 (`v308`) and of 16 bits a pixel is taken for other formats: its colours are \
      exchanged.
      """,
    upstream: "`qtdemux_video_caps`",
    workaround: "Such video is refused, with what to do.")

  package static let qtdemuxChapters = Quirk(
    "qtdemux-chapters", element: "qtdemux", releases: .all,
    symptom: "It does not tell the chapters, neither QuickTime's nor Nero's (`chpl`).",
    workaround: "They are read from the file (`MP4Chapters`).")

  package static let qtdemuxUnwantedStreams = Quirk(
    "qtdemux-unwanted-streams", element: "qtdemux", releases: .all,
    symptom: "If all linked streams have answered `GST_FLOW_EOS`, it reads the rest of the file for the others.",
    upstream: "`gst_qtdemux_loop_state_movie`",
    workaround: "The last stream answers `GST_FLOW_FLUSHING`, until the next seek.",
    isForSeeks: true)

  package static let qtdemuxGaplessTwice = Quirk(
    "qtdemux-gapless-twice", element: "qtdemux", releases: .since(Release(1, 24)),
    symptom: """
      If a file of audio names its priming in an edit list and in iTunes' tag (`iTunSMPB`), as Apple's encoder writes \
      both, the priming is cut twice: all audio is early by it, and as much is lost at the end.
      """,
    upstream: "`gst_qtdemux_decorate_and_push_buffer`, 0071c97128",
    workaround: "If there are edit lists, it reads another name for that tag (`MP4Corrections`).")

  package static let qtdemuxGapless = Quirk(
    "qtdemux-gapless", element: "qtdemux", releases: .before(Release(1, 24)),
    symptom: "Priming and padding that only iTunes' tag (`iTunSMPB`), or the name of Nero's encoder, tells are played.",
    upstream: "`qtdemux_check_if_is_gapless_audio`, 0071c97128, MR 4200",
    workaround: """
      Both are read from the file on all releases (`MP4Gapless`), and the tag is hidden from the demuxer.
      """)

  static let qtdemux = [
    qtdemuxPrimingEnd, qtdemuxEditEnd, qtdemuxTrackEnd, qtdemuxShortTracks, qtdemuxFragmentEnd,
    qtdemuxFragmentOffsets, qtdemuxLoudspeakers, qtdemuxByteOrder,
    qtdemuxFieldOrder, qtdemuxRawFormats, qtdemuxMatrix,
    qtdemuxPixelAspect,
    qtdemuxChapters,
    qtdemuxGapless, qtdemuxGaplessTwice, qtdemuxUnwantedStreams,
  ]
}
