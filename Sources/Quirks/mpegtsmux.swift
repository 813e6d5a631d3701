extension Quirk {
  package static let mpegtsmuxJPEG2000 = Quirk(
    "mpegtsmux-jpeg2000", element: "mpegtsmux", releases: .all,
    symptom: """
      JPEG 2000 is in its caps, but refused, or written as no stream, unless it names a \
      broadcast profile.
      """,
    upstream: "`gst_base_ts_mux_prepare_jpeg2000`",
    workaround: "Packets of JPEG 2000 are never written as they are.")

  static let mpegtsmux = [mpegtsmuxJPEG2000]
}
