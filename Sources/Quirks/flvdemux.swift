import GStreamer

extension Quirk {
  package static let flvdemuxEarlyAudio = Quirk(
    "flvdemux-early-audio", element: "flvdemux", releases: .before(Release(1, 24)),
    symptom: """
      The segment of both streams begins at the first packet of the file. If that is a frame of video, audio that is \
      heard before it is clipped.
      """,
    upstream: "`gst_flv_demux_parse_tag_audio`, fae6fbaa6b",
    workaround: "The first segment of the audio begins at 0.")

  static let flvdemux = [flvdemuxEarlyAudio]
}
