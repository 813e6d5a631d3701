import GStreamer

extension Quirk {
  package static let vp9parseAlpha = Quirk(
    "vp9parse-alpha", element: "vp9parse", releases: .before(Release(1, 22, 9)),
    symptom: """
      It loops for ever, with a critical warning each time, if VP9 has transparency (`codec-alpha`): it removes \
      structures from caps that are not its own.
      """,
    upstream: "`gst_vp9_parse_negotiate`; 57c2adeeb2, 79d2144408",
    workaround: "VP9 with transparency goes from the demuxer to the decoder, without the parser.")

  static let vp9parse = [vp9parseAlpha]
}
