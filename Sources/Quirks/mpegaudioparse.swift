extension Quirk {
  package static let mpegaudioparseFFmpegPadding = Quirk(
    "mpegaudioparse-ffmpeg-padding", element: "mpegaudioparse", releases: .all,
    symptom: """
      It reads the priming and padding of an MP3 only if LAME wrote them: of files that FFmpeg wrote (`Lavc`, `Lavf`) \
      both are heard.
      """,
    upstream: "`gst_mpeg_audio_parse_handle_first_frame`",
    workaround: "They are read from the file (`InfoFrame`).")

  package static let mpegaudioparseFileTags = Quirk(
    "mpegaudioparse-file-tags", element: "mpegaudioparse", releases: .all,
    symptom: "It hands on the tags of the file as the stream's own, as all parsers of audio do.",
    upstream: "`gst_base_parse_queue_tag_event_update`",
    workaround: "The tags of the only stream are the file's.")

  static let mpegaudioparse = [mpegaudioparseFFmpegPadding, mpegaudioparseFileTags]
}
