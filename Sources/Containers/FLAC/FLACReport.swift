import MediaTime

extension ContainerReport {
  /// Creates the report of a FLAC stream. The declared end is the total number of samples in
  /// STREAMINFO.
  /// - Parameter changesForm: true if the format changes between frames. All frames are then read,
  ///   because their sample rates may differ.
  static func flac(_ stream: FLACStream, changesForm: Bool) -> ContainerReport? {
    guard stream.form.rate > 0, let total = stream.total else { return nil }
    let end = changesForm ? stream.end() : ClockTime(seconds: Double(total) / Double(stream.form.rate))
    return audio(end: end, slack: ClockTime(nanoseconds: 1_000_000))
  }
}
