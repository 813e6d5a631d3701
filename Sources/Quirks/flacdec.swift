import GStreamer

extension Quirk {
  package static let flacdecSurround = Quirk(
    "flacdec-surround", element: "flacdec", releases: .before(Release(1, 28)),
    symptom: """
      Channels of 6.1 and 7.1 are for other loudspeakers than FLAC's specification has (RFC 9639): centre and bass \
      are exchanged with the rear pair.
      """,
    upstream: "`channel_positions`, 79f2458803, MR 10375",
    workaround: "`avdec_flac` decodes FLAC of seven and eight channels.")

  static let flacdec = [flacdecSurround]
}
