/// Integer literal such as `30`, clamped to the range from 1 to 1000.
extension FrameRate: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) { self.init(whole: min(max(value, 1), 1000)) }
}

/// Literal such as `29.97`, which means 30000/1001, as in ``init(parsing:)``. Rates below one frame
/// an hour become one frame a second; rates above 1000 frames a second become 1000.
extension FrameRate: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) {
    self = FrameRate(parsing: "\(value)") ?? FrameRate(whole: value > 1 ? 1000 : 1)
  }
}

/// Literal such as `"30000/1001"`, in the syntax of ``init(parsing:)``. An invalid literal traps.
extension FrameRate: ExpressibleByStringLiteral {
  public init(stringLiteral text: StaticString) {
    guard let rate = FrameRate(parsing: "\(text)") else { preconditionFailure("“\(text)” is not a frame rate") }
    self = rate
  }
}
