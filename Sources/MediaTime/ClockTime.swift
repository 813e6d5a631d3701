/// A point or a length in time, in nanoseconds. Signed, since a mirrored or shifted time may lie before 0.
///
/// Times come out of files and streams, which may say anything. So nothing here traps: a result past 292
/// years, either way, stays there.
public struct ClockTime: Hashable, Comparable, Sendable {
  /// The value in nanoseconds.
  public var nanoseconds: Int64

  /// Creates a time of `nanoseconds`.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Creates a time from GStreamer's `GstClockTime`; nil for `GST_CLOCK_TIME_NONE` and for times past 292 years.
  package init?(raw: UInt) {
    guard let value = Int64(exactly: raw) else { return nil }
    nanoseconds = value
  }

  /// Creates a time of `seconds`, rounded to the nearest nanosecond; out-of-range values saturate.
  public init(seconds: Double) {
    let value = (seconds * 1e9).rounded()
    nanoseconds = Int64(exactly: value) ?? (value < 0 ? -ClockTime.saturation : ClockTime.saturation)
  }

  /// The time at which sample frame `index` of a stream of `rate` Hz starts, rounded to the nearest
  /// nanosecond; a result that no time can hold saturates, at 73 years. Rates outside 1 to 2^32 are taken for
  /// the nearest of these, here and in ``sampleIndex(rate:)``.
  public init(sampleIndex index: Int, rate: Int) {
    let rate = ClockTime.possible(rate)
    let whole = index / rate
    guard whole.magnitude < UInt(ClockTime.saturation / 1_000_000_000) else {
      nanoseconds = index < 0 ? -ClockTime.saturation : ClockTime.saturation
      return
    }
    let rest = index % rate
    nanoseconds = Int64(whole) * 1_000_000_000 + (Int64(rest) * 1_000_000_000 + Int64(rate) / 2) / Int64(rate)
  }

  /// The sample frame nearest to this time at `rate` Hz; a result that no number can hold saturates, as
  /// damaged files' times do.
  public func sampleIndex(rate: Int) -> Int {
    let rate = ClockTime.possible(rate)
    let whole = Int(nanoseconds / 1_000_000_000).multipliedReportingOverflow(by: rate)
    guard !whole.overflow, whole.partialValue.magnitude < UInt(ClockTime.saturation) else {
      return Int(nanoseconds < 0 ? -ClockTime.saturation : ClockTime.saturation)
    }
    let rest = nanoseconds % 1_000_000_000
    let half: Int64 = nanoseconds < 0 ? -500_000_000 : 500_000_000
    return whole.partialValue + Int((rest * Int64(rate) + half) / 1_000_000_000)
  }

  /// Far enough from the limits that sums of a few such values fit.
  private static let saturation = Int64.max / 4

  /// Nearest rate with which a second in either unit times the other fits 64 bits.
  private static func possible(_ rate: Int) -> Int { min(max(rate, 1), 1 << 32) }

  public static let zero = ClockTime(nanoseconds: 0)

  /// The time in seconds.
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// The value as `GstClockTime`; negative times become 0, since GStreamer has none.
  package var raw: UInt { UInt(clamping: nanoseconds) }

  public static func < (a: ClockTime, b: ClockTime) -> Bool { a.nanoseconds < b.nanoseconds }
}

extension ClockTime: DurationProtocol {
  public static func + (a: ClockTime, b: ClockTime) -> ClockTime {
    ClockTime(nanoseconds: a.nanoseconds.saturatingAdd(b.nanoseconds))
  }
  public static func - (a: ClockTime, b: ClockTime) -> ClockTime {
    ClockTime(nanoseconds: a.nanoseconds.saturatingSubtract(b.nanoseconds))
  }
  /// `count` times this length.
  public static func * (time: ClockTime, count: Int) -> ClockTime {
    ClockTime(nanoseconds: time.nanoseconds.saturatingMultiply(Int64(count)))
  }
  /// One of `count` equal parts, rounded towards 0.
  public static func / (time: ClockTime, count: Int) -> ClockTime {
    ClockTime(nanoseconds: time.nanoseconds.saturatingDivide(Int64(count)))
  }
  /// How often `b` fits into `a`; infinite, or not a number, where `b` is 0.
  public static func / (a: ClockTime, b: ClockTime) -> Double { Double(a.nanoseconds) / Double(b.nanoseconds) }
}

extension ClockTime: CustomStringConvertible {
  /// Text as `GST_TIME_FORMAT` prints it, to the millisecond: `0:01:02.500`.
  public var description: String {
    func pad(_ value: UInt64, _ width: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let ms = (nanoseconds.magnitude + 500_000) / 1_000_000
    let clock = "\(ms / 3_600_000):\(pad(ms / 60_000 % 60, 2)):\(pad(ms / 1000 % 60, 2)).\(pad(ms % 1000, 3))"
    return nanoseconds < 0 ? "-" + clock : clock
  }
}
