import GStreamer

extension Quirk {
  package static let aiffparseLoudspeakers = Quirk(
    "aiffparse-loudspeakers", element: "aiffparse", releases: .all,
    symptom:
      "It does not read which loudspeakers the channels are for (`CHAN`): 4.0 is quad, and 5.1 has no rear pair.",
    upstream: "`gst_aiff_parse_create_caps`",
    workaround: "They are read from the file (`ChannelLayout`).")

  static let aiffparse = [aiffparseLoudspeakers]
}
