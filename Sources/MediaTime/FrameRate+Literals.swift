/// `30`: a number that is no rate from 1 to 1000 becomes the nearest that is.
extension FrameRate: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) { self.init(whole: min(max(value, 1), 1000)) }
}

/// `29.97`, which is 30000/1001 as in ``init(parsing:)``: a number that is no rate from one frame an hour to
/// 1000 a second becomes 1 or 1000.
extension FrameRate: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) {
    self = FrameRate(parsing: "\(value)") ?? FrameRate(whole: value > 1 ? 1000 : 1)
  }
}

/// `"30000/1001"`, as ``init(parsing:)`` reads it. Only literals can be written so; one that is no rate stops the program where it stands.
extension FrameRate: ExpressibleByStringLiteral {
  public init(stringLiteral text: StaticString) {
    guard let rate = FrameRate(parsing: "\(text)") else { preconditionFailure("“\(text)” is no frame rate") }
    self = rate
  }
}
