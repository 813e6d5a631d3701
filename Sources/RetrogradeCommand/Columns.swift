// Foundation's own functions for these come with ICU, which would make the command three times as large.

extension String {
  /// The text, and spaces after it up to `width` characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Double {
  /// This many seconds as people read them: `12.345 s`.
  var inSeconds: String {
    guard let milliseconds = Int(exactly: (self * 1000).rounded()) else { return "\(self) s" }
    let (whole, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
    return "\(milliseconds < 0 ? "-" : "")\(whole).\(String(repeating: "0", count: 3 - String(rest).count))\(rest) s"
  }
}
