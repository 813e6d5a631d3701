extension Quirk {
  package static let xingmuxPadding = Quirk(
    "xingmux-padding", element: "xingmux", releases: .all,
    symptom: """
      The first frame has no LAME tag, so players play the samples that the encoder adds at both \
      ends.
      """,
    upstream: "`generate_xing_header`",
    workaround: "The tag replaces the seek table in the finished file.")

  package static let xingmuxFrameCount = Quirk(
    "xingmux-frame-count", element: "xingmux", releases: .all,
    symptom: "The number of frames is one too high: it comes from the duration, rounded up.",
    upstream: "`generate_xing_header`",
    workaround: "The frames of the finished file are counted.")

  static let xingmux = [xingmuxPadding, xingmuxFrameCount]
}
