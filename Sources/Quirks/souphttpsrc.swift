extension Quirk {
  package static let souphttpsrcEarlyEnd = Quirk(
    "souphttpsrc-early-end", element: "souphttpsrc", releases: .all,
    symptom: "It takes a connection that ends too early for the end of the file, without an error.",
    upstream: "`gst_soup_http_src_read_buffer`",
    workaround: "The bytes are counted, and compared with the length that the server said.")

  static let souphttpsrc = [souphttpsrcEarlyEnd]
}
