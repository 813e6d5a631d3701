import GStreamer

extension Quirk {
  /// Factories that encodebin must not plug.
  package static let timestampers = ["h264timestamper", "h265timestamper"]

  package static let h264timestamperVariableRate = Quirk(
    "h264timestamper-variable-rate", element: "h264timestamper", releases: .since(Release(1, 24)),
    symptom: """
      encodebin puts it behind encoders, and it replaces their decoding times. At variable rates the new ones are \
      later than presentation times, which mp4mux then moves: up to 164 ms in MP4.
      """,
    upstream: "77b6f58074 (encodebin), 30c73f09e3 (its rank)",
    workaround: "encodebin is made while the timestampers have rank NONE: encoders give right times.")

  static let h264timestamper = [h264timestamperVariableRate]
}
