/// Factories named like those of `Duration`, and conversions.
extension ClockTime {
  /// Creates a time of `seconds`, rounded to the nearest nanosecond; out-of-range values saturate.
  public static func seconds(_ seconds: Double) -> ClockTime { ClockTime(seconds: seconds) }

  /// Creates a time of `milliseconds`; out-of-range values saturate.
  public static func milliseconds(_ milliseconds: Int) -> ClockTime { ClockTime(nanoseconds: 1_000_000) * milliseconds }

  public static func nanoseconds(_ nanoseconds: Int64) -> ClockTime { ClockTime(nanoseconds: nanoseconds) }

  /// Converts a `Duration`, dropping fractions of a nanosecond; out-of-range values saturate.
  public init(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(
      nanoseconds: seconds.saturatingMultiply(1_000_000_000).saturatingAdd(attoseconds / 1_000_000_000))
  }
}

extension Duration {
  /// Converts a time without loss.
  public init(_ time: ClockTime) { self = .nanoseconds(time.nanoseconds) }
}

/// Times are encoded as a number of seconds, which is exact to the nanosecond up to 48 days.
extension ClockTime: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(seconds: try decoder.singleValueContainer().decode(Double.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(seconds)
  }
}
