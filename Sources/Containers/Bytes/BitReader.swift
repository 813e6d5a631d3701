/// Reader of bit fields, most significant bit first.
struct BitReader {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads an unsigned number of `count` bits, at most 32.
  /// - Returns: nil at the end of the bytes.
  mutating func bits(_ count: Int) -> Int? {
    guard place + count <= bytes.count * 8 else { return nil }
    var number = 0
    for bit in place..<place + count {
      let shift = 7 - bit % 8
      number *= 2
      let mask = UInt8(1) << shift
      if bytes[bit / 8] & mask != 0 { number += 1 }
    }
    place += count
    return number
  }

  /// Skips `count` bits. After a skip beyond the end, all reads return nil.
  mutating func skip(_ count: Int) { place += count }

  /// Reads one bit as a flag.
  mutating func flag() -> Bool? { bits(1).map { $0 == 1 } }

  /// Reads an unsigned Exp-Golomb number (`ue(v)`, ITU-T H.264, 9.1).
  mutating func golomb() -> Int? {
    var zeros = 0
    while let isSet = flag() {
      if isSet { return bits(zeros).map { $0 + (1 << zeros) - 1 } }
      zeros += 1
      if zeros > 31 { return nil }
    }
    return nil
  }

  /// Skips `count` Exp-Golomb numbers, signed or not.
  /// - Returns: false at the end of the bytes.
  mutating func golombs(_ count: Int) -> Bool {
    for _ in 0..<count where golomb() == nil { return false }
    return true
  }

  /// Reads a signed Exp-Golomb number (`se(v)`, 9.1.1).
  mutating func signedGolomb() -> Int? { golomb().map { $0 & 1 == 1 ? ($0 + 1) / 2 : -$0 / 2 } }
}
