import GStreamer

/// Faults of GStreamer's core, base classes and libraries. Each may affect other elements than the
/// one in ``element``.
extension Quirk {
  package static let coreHeldSourceEnd = Quirk(
    "core-held-source-end", element: "fakesrc", releases: .all,
    symptom: """
      A pipeline whose source waits for room can neither end its sources nor stop meanwhile.
      """,
    upstream: "`gst_base_src_send_event` waits for the stream lock with the state lock held",
    workaround: "A reader that fails goes on taking what comes until the pipeline stops.")

  package static let coreThreadShortage = Quirk(
    "core-thread-shortage", element: "queue", releases: .all,
    symptom: """
      If the system has no thread for a task, GStreamer only prints a warning, and the pipeline \
      hangs.
      """,
    upstream: "`start_task`, `gst_task_join`",
    workaround: "The warning ends the process with an error.")

  package static let videoInfoChromaSite = Quirk(
    "video-info-chroma-site", element: "x264enc", releases: .before(Release(1, 25, 90)),
    symptom: "Video of up to 576 lines that says where its chroma lies, and not its colours, is labelled `center`.",
    upstream: "`set_default_colorimetry`, 959ccf65ad",
    workaround: "Its colours are named in the caps before the encoder.")

  static let core = [coreHeldSourceEnd, coreThreadShortage, videoInfoChromaSite]
}
