extension Quirk {
  package static let oggmuxLastPage = Quirk(
    "oggmux-last-page", element: "oggmux", releases: .all,
    symptom: "The last page of the stream that ends first is not written if it is not full: frames are missing.",
    upstream: "`gst_ogg_mux_process_best_pad`",
    workaround: "`max-page-delay` is 0: each packet has a page of its own, which is full at once.")

  static let oggmux = [oggmuxLastPage]
}
