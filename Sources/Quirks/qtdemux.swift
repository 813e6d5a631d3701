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
      which is lost.
      """,
    upstream: "`gst_qtdemux_advance_sample`",
    workaround: "It reads a longer duration of the track (`MP4Corrections`).")

  static let qtdemux = [qtdemuxPrimingEnd, qtdemuxEditEnd, qtdemuxTrackEnd]
}
