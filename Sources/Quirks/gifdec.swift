extension Quirk {
  package static let gifdecRepeats = Quirk(
    "gifdec-repeats", element: "gifdec", releases: .all,
    symptom: """
      It gives a GIF as often as the file says: without end if players repeat it forever, and not at all if it says \
      nothing of that. Its rank is above that of `avdemux_gif`.
      """,
    upstream: "`GifDec::decode` of gst-plugins-rs, video/gif/src/gifdec/imp.rs",
    workaround: "GIFs are read by `avdemux_gif` if it is installed (`ContainerFacts.demuxer`).")

  static let gifdec = [gifdecRepeats]
}
