// Foundation's own function for this comes with ICU, which would make the command three times as large.

extension String {
  /// The text, and spaces after it up to `width` characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
