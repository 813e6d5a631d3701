package import MediaTime

extension Warning {
  /// - Parameters:
  ///   - count: of the frames that the decoder did not give.
  ///   - first: when the first of them would be shown, and `last` the last.
  package static func undecodable(_ count: Int, of all: Int, from first: ClockTime, to last: ClockTime) -> Warning {
    Warning(
      .damaged, "damaged: \(count) of \(all) frames can't be decoded, between \(first) and \(last)", count: count,
      span: TimeSpan(start: first, end: last))
  }
}
