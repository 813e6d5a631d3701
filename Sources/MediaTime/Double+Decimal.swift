extension Double {
  /// Parses decimal text. nil for hexadecimal numbers such as `0x1p-1`, which `Double(_:)` accepts.
  package init?(decimal text: some StringProtocol) {
    guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }) else { return nil }
    self.init(text)
  }
}
