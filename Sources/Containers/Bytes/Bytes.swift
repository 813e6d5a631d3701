extension [UInt8] {
  /// Reads the unsigned 32-bit big-endian integer at `offset`.
  package func integer(_ offset: Int) -> Int {
    Int(self[offset]) << 24 | Int(self[offset + 1]) << 16 | Int(self[offset + 2]) << 8 | Int(self[offset + 3])
  }

  /// Reads an unsigned big-endian integer of up to eight bytes, clamped to `Int.max`.
  package func number(_ range: Range<Int>) -> Int {
    var value: UInt64 = 0
    for place in range { value = value << 8 | UInt64(self[place]) }
    return Int(clamping: value)
  }

  /// Writes a 32-bit big-endian integer at `offset`.
  package mutating func set(_ value: Int, at offset: Int) {
    let bits = UInt32(truncatingIfNeeded: value)
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt32(byte))) }
  }

  /// Reads the four-character code at `offset`.
  package func text(_ offset: Int) -> String { String(decoding: self[offset..<offset + 4], as: UTF8.self) }
}

extension ArraySlice<UInt8> {
  /// Unsigned little-endian integer of up to eight bytes, clamped to `Int.max`.
  package var littleEndian: Int { Int(clamping: reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) }
}

extension Int {
  /// Greatest common divisor of two numbers that are not negative.
  func commonDivisor(_ other: Int) -> Int { other == 0 ? self : other.commonDivisor(self % other) }
}
