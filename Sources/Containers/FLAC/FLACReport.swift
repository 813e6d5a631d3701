import MediaTime

extension ContainerReport {
  /// STREAMINFO counts all samples.
  /// - Parameter changesForm: whether frames differ in form, perhaps in their rate.
  static func flac(_ stream: FLACStream, changesForm: Bool) -> ContainerReport? {
    guard stream.form.rate > 0, let total = stream.total else { return nil }
    let end = changesForm ? stream.end() : ClockTime(seconds: Double(total) / Double(stream.form.rate))
    return audio(end: end, slack: ClockTime(nanoseconds: 1_000_000))
  }
}
