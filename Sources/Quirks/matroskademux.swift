import GStreamer

extension Quirk {
  package static let matroskademuxStartTime = Quirk(
    "matroskademux-start-time", element: "matroskademux", releases: .all,
    symptom: """
      Until the first seek it counts from the first packet: a file whose streams begin after 0 is shown from 0 on, and \
      a stream that begins a few milliseconds after the other at the same time as that one.
      """,
    upstream: "`stream_start_time` in `gst_matroska_demux_parse_blockgroup_or_simpleblock`",
    workaround: "Its segments get the start as their time.")

  static let matroskademux = [matroskademuxStartTime]
}
