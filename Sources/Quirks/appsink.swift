extension Quirk {
  package static let appsinkAllocation = Quirk(
    "appsink-allocation", element: "appsink", releases: .all,
    symptom: """
      The allocation query gets no answer, so decoders copy every frame into the plain layout of \
      rows.
      """,
    upstream: "96a46e31c7 only adds a signal for programs to answer by (1.24)",
    workaround: """
      A probe answers: planes may be anywhere (`GstVideoMeta`), and the pool is ours \
      (`FramePool`).
      """)

  static let appsink = [appsinkAllocation]
}
