/// Point in time or duration, in nanoseconds. Signed, since a reversed or shifted time may be below
/// 0.
///
/// Files and streams may contain any time, so the operations of this type never trap: results
/// beyond 292 years saturate.
public struct ClockTime: Hashable, Comparable, Sendable {
  /// The value in nanoseconds.
  public var nanoseconds: Int64

  /// Creates a time of `nanoseconds`.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Creates a time from GStreamer's `GstClockTime`; nil for `GST_CLOCK_TIME_NONE` and for times
  /// over 292 years.
  package init?(raw: UInt) {
    guard let value = Int64(exactly: raw) else { return nil }
    nanoseconds = value
  }

  /// Creates a time of `seconds`, rounded to the nearest nanosecond; out-of-range values saturate.
  public init(seconds: Double) {
    let value = (seconds * 1e9).rounded()
    nanoseconds = Int64(exactly: value) ?? (value < 0 ? -ClockTime.saturation : ClockTime.saturation)
  }

  /// Creates the start time of sample frame `index` at `rate` Hz, rounded to the nearest
  /// nanosecond; results above 73 years saturate. This initializer and ``sampleIndex(rate:)`` clamp
  /// the rate to the range from 1 to 2^32.
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

  /// Returns the index of the sample frame nearest to this time at `rate` Hz; out-of-range results
  /// saturate, because times in damaged files may be of any size.
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

  /// Limit at which values saturate. The limit is low enough that sums of a few values do not
  /// overflow.
  private static let saturation = Int64.max / 4

  /// Clamps a rate, so that the rate times 10^9 fits in 64 bits.
  private static func possible(_ rate: Int) -> Int { min(max(rate, 1), 1 << 32) }

  public static let zero = ClockTime(nanoseconds: 0)

  /// The time in seconds.
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Value as `GstClockTime`; negative times become 0, since GStreamer has none.
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
  /// Returns `count` times this duration.
  public static func * (time: ClockTime, count: Int) -> ClockTime {
    ClockTime(nanoseconds: time.nanoseconds.saturatingMultiply(Int64(count)))
  }
  /// Returns one of `count` equal parts, rounded towards 0.
  public static func / (time: ClockTime, count: Int) -> ClockTime {
    ClockTime(nanoseconds: time.nanoseconds.saturatingDivide(Int64(count)))
  }
  /// Returns the ratio of `a` to `b`; infinite or NaN if `b` is 0.
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
