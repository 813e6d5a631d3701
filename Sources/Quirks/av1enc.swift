import GStreamer

extension Quirk {
  package static let av1encMaxQuantizer = Quirk(
    "av1enc-max-quantizer", element: "av1enc", releases: .all,
    symptom: "`max-quantizer` is 0 unless set, where libaom has 63: a bit rate is exceeded many times over.",
    upstream: "`DEFAULT_MAX_QUANTIZER`",
    workaround: "`max-quantizer=63` is set with a bit rate.")

  static let av1enc = [av1encMaxQuantizer]
}
