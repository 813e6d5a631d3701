extension [UInt8] {
  /// Four bytes, the highest first.
  package func integer(_ offset: Int) -> Int {
    self[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// An unsigned integer of up to eight bytes, the highest first; what does not fit is the greatest.
  package func number(_ range: Range<Int>) -> Int {
    Int(clamping: self[range].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  /// Writes four bytes, the highest first.
  package mutating func set(_ value: Int, at offset: Int) {
    let bits = UInt32(truncatingIfNeeded: value)
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32(byte))) }
  }

  /// Four letters.
  package func text(_ offset: Int) -> String { String(decoding: self[offset..<offset + 4], as: UTF8.self) }
}
