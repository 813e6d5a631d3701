import GStreamer

extension Quirk {
  package static let y4mencChromaSite = Quirk(
    "y4menc-chroma-site", element: "y4menc", releases: .since(Release(1, 27, 1)),
    symptom: """
      It refuses frames whose chroma site has no tag in Y4M: any but `none` for 4:2:2, 4:4:4 and more than eight \
      bits, where decoders say `mpeg2`.
      """,
    upstream: "`gst_y4m_video_get_chroma_tag_from_format`, 7a14b9020c",
    workaround: "Its caps get the chroma site `none` in place of one without a tag.")

  package static let y4mencLayout = Quirk(
    "y4menc-layout", element: "y4menc", releases: .before(Release(1, 26, 1)),
    symptom: """
      It writes a frame's memory as it is: rows and planes with padding (`GstVideoMeta`) give a file that no reader \
      takes.
      """,
    upstream: "`gst_y4m_encode_handle_frame`, 2fb3dddd51",
    workaround: "Its frames are copied into the plain layout.")

  package static let y4mencFieldOrder = Quirk(
    "y4menc-field-order", element: "y4menc", releases: .all,
    symptom: "It ignores the field order in the caps: without flags on the frames, the bottom field is the first.",
    upstream: "`gst_y4m_encode_handle_frame`",
    workaround: "Its frames get the flags that the caps declare.")

  static let y4menc = [y4mencChromaSite, y4mencLayout, y4mencFieldOrder]
}
