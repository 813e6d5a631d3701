package import MediaTime

extension Warning {
  /// Frames that the decoder did not output.
  /// - Parameters:
  ///   - count: number of these frames.
  ///   - first: display time of the first of them; `last` is that of the last.
  package static func undecodable(_ count: Int, of all: Int, from first: ClockTime, to last: ClockTime) -> Warning {
    Warning(
      .damaged, "damaged: \(count) of \(all) frames can't be decoded, between \(first) and \(last)", count: count,
      span: TimeSpan(start: first, end: last))
  }
}
