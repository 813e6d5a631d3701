/// CRC-32 of ISO 3309 and zlib, computed eight bytes at a time.
struct CRC32 {
  private static let tables: [UInt32] = {
    var tables = (0..<256 as Range<UInt32>).map { number in
      (0..<8).reduce(number) { rest, _ in rest & 1 != 0 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
    }
    for number in 256..<256 * 8 {
      let last = tables[number - 256]
      tables.append(last >> 8 ^ tables[Int(last & 0xFF)])
    }
    return tables
  }()

  private var state = UInt32.max
  var value: UInt32 { ~state }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var sum = state
    CRC32.tables.withUnsafeBufferPointer { table in
      var place = 0
      while place + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ^ UInt64(sum)
        sum = 0
        for byte in 0..<8 {
          sum ^= table[(7 - byte) << 8 | Int(truncatingIfNeeded: word >> (UInt64(byte) << 3)) & 0xFF]
        }
        place += 8
      }
      while place < bytes.count {
        sum = sum >> 8 ^ table[Int(truncatingIfNeeded: sum ^ UInt32(bytes[place])) & 0xFF]
        place += 1
      }
    }
    state = sum
  }
}
