extension Quirk {
  package static let oggmuxLastPage = Quirk(
    "oggmux-last-page", element: "oggmux", releases: .all,
    symptom: """
      The last frame of the stream that ends first is not written if it comes more than \
      `max-delay` after its page began: the muxer flushes that page, and forgets the frame.
      """,
    upstream: "`gst_ogg_mux_process_best_pad`",
    workaround: """
      With several streams, `max-delay` has no limit, and `max-page-delay` is 0: each packet has \
      a page.
      """)

  static let oggmux = [oggmuxLastPage]
}
