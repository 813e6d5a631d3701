import GStreamer

extension Quirk {
  package static let mpegtsmuxJPEG2000 = Quirk(
    "mpegtsmux-jpeg2000", element: "mpegtsmux", releases: .all,
    symptom: """
      JPEG 2000 is in its caps, but refused, or written as no stream, unless it names a \
      broadcast profile.
      """,
    upstream: "`gst_base_ts_mux_prepare_jpeg2000`",
    workaround: "Packets of JPEG 2000 are never written as they are.")

  package static let mpegtsmuxCustomMappings = Quirk(
    "mpegtsmux-custom-mappings", element: "mpegtsmux", releases: .since(Release(1, 26)),
    symptom: """
      VP9 and AV1 are in its caps, but refused unless `enable-custom-mappings` is set; then players \
      other than GStreamer know nothing of the streams.
      """,
    upstream: "`gst_base_ts_mux_create_or_update_stream`, 244b00ac08 (VP9), 19cea52dbd (AV1)",
    workaround: "Transport streams take neither (`Container.takes`), as on earlier releases.")

  static let mpegtsmux = [mpegtsmuxJPEG2000, mpegtsmuxCustomMappings]
}
