import GStreamer

extension Quirk {
  package static let mpegpsdemuxStart = Quirk(
    "mpegpsdemux-start", element: "mpegpsdemux", releases: .before(Release(1, 28, 3)),
    symptom: """
      Its segments begin at the first timestamp that it finds, which is the video's as a rule: audio that is heard \
      before it is clipped.
      """,
    upstream: "`gst_ps_demux_scan_ts`; ended by 495e9cbed7, as far as reading tells (1.28.8 seen)",
    workaround: "The first segment begins where its time is 0.")

  static let mpegpsdemux = [mpegpsdemuxStart]
}
