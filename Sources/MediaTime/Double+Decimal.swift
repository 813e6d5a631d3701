extension Double {
  /// Parses decimal text; nil for hexadecimal numbers, which `Double(_:)` also takes: `0x1p-1`.
  package init?(decimal text: some StringProtocol) {
    guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }) else { return nil }
    self.init(text)
  }
}
