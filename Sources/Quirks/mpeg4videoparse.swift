extension Quirk {
  package static let mpeg4videoparsePackedFrames = Quirk(
    "mpeg4videoparse-packed-frames", element: "mpeg4videoparse", releases: .all,
    symptom: """
      It splits packets that hold a frame and a B-frame, as XviD and DivX wrote them into AVI: all frames that follow \
      have wrong times.
      """,
    upstream: "`gst_mpeg4vparse_handle_frame`",
    workaround: "Decoders get the packets of avidemux as they are.")

  static let mpeg4videoparse = [mpeg4videoparsePackedFrames]
}
