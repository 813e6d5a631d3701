package import MediaTime

extension Warning {
  /// Returns a warning about frames that the decoder did not output.
  /// - Parameters:
  ///   - count: number of missing frames.
  ///   - first: display time of the first missing frame.
  ///   - last: display time of the last missing frame.
  package static func undecodable(_ count: Int, of all: Int, from first: ClockTime, to last: ClockTime) -> Warning {
    Warning(
      .damaged, "damaged: \(count) of \(all) frames can't be decoded, between \(first) and \(last)", count: count,
      span: TimeSpan(start: first, end: last))
  }
}
