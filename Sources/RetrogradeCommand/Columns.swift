// Foundation's function for padding needs ICU, which would triple the size of the command.

extension String {
  /// Pads the text with spaces to `width` characters.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
