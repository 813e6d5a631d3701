/// Frames per second, as a fraction: 30000/1001 for NTSC.
public struct FrameRate: Hashable, Sendable, Codable, CustomStringConvertible {
  public let numerator: Int
  public let denominator: Int

  /// - Returns: nil unless numerator and denominator are positive and below 2^31 - 1, because a
  ///   fraction in GStreamer has 32-bit numbers.
  public init?(_ numerator: Int, _ denominator: Int) {
    guard numerator > 0, denominator > 0, numerator < Int32.max, denominator < Int32.max else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  init(whole numerator: Int) {
    self.numerator = numerator
    denominator = 1
  }

  /// Default rate of image sequences.
  public static let usual = FrameRate(whole: 25)

  /// Parses `25`, `29.97` or `30000/1001`. nil if the text is invalid, or the rate is above 1000
  /// frames per second or below one frame an hour.
  public init?(parsing text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let numerator = Int(parts[0]), let denominator = Int(parts[1]) {
      self.init(numerator, denominator)
    } else if let rate = Double(decimal: text), rate > 0, rate < 1e6 {
      let ntsc = (rate * 1.001).rounded()
      if rate != rate.rounded(), abs(ntsc / 1.001 - rate) < 0.005 {
        self.init(Int(ntsc) * 1000, 1001)
      } else {
        self.init(Int((rate * 1000).rounded()), 1000)
      }
    } else {
      return nil
    }
    guard (1.0 / 3600...1000).contains(value) else { return nil }
  }

  /// Frames per second.
  public var value: Double { Double(numerator) / Double(denominator) }

  /// Returns the start time of frame `index`, rounded to the nearest nanosecond; results above 146
  /// years saturate.
  public func start(of index: Int) -> ClockTime {
    guard Double(index) / value < 4.6e9 else { return ClockTime(nanoseconds: .max / 2) }
    let (high, low) = Int64(index).multipliedFullWidth(by: 1_000_000_000 * Int64(denominator))
    let half = UInt64(numerator / 2)
    let (sum, carry) = low.addingReportingOverflow(half)
    let divided = Int64(numerator).dividingFullWidth((high + (carry ? 1 : 0), sum))
    return ClockTime(nanoseconds: divided.quotient)
  }

  /// Returns the number of frames that start before `time`. Clamps `time` to 146 years.
  package func count(before time: ClockTime) -> Int {
    let limit = min(time.nanoseconds, .max / 2)
    guard limit > 0 else { return 0 }
    let (high, low) = limit.multipliedFullWidth(by: Int64(numerator))
    let unit = 1_000_000_000 * Int64(denominator)
    guard high < unit / 2 else { return Int.max / 2 }
    // Start times are rounded, so the quotient is off by at most one if frames last at least a
    // nanosecond.
    var count = Int(unit.dividingFullWidth((high, low)).quotient)
    if start(of: count).nanoseconds < limit { count += 1 }
    if count > 0, start(of: count - 1).nanoseconds >= limit { count -= 1 }
    return count
  }

  /// Returns this rate multiplied by `speed`; nil if the speed is not a whole number of
  /// thousandths, or the result is not representable.
  package func times(_ speed: Double) -> FrameRate? {
    let thousandths = speed * 1000
    guard thousandths == thousandths.rounded(), let factor = Int(exactly: thousandths), factor > 0 else { return nil }
    if factor == 1000 { return self }
    let (top, isOver) = numerator.multipliedReportingOverflow(by: factor)
    guard !isOver else { return nil }
    var (divisor, rest) = (top, denominator * 1000)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    return FrameRate(top / divisor, denominator * 1000 / divisor)
  }

  public var description: String { "\(numerator)/\(denominator)" }
}
