import GStreamer

extension Quirk {
  package static let qtmuxOpusByteOrder = Quirk(
    "qtmux-opus-byte-order", element: "mp4mux", releases: .before(Release(1, 24)),
    symptom:
      "The numbers in Opus's header (`dOps`) are little-endian, so players take 312 samples of priming for 14,337.",
    upstream: "`build_opus_extension`, f3496ea3bf",
    workaround: "Their bytes are put in order in the finished file.")

  static let qtmux = [qtmuxOpusByteOrder]
}
