/// How the packets of a transport stream follow each other: alone, each of 188 bytes (ISO/IEC 13818-1, 2.4.3.2), or each behind
/// a time of four bytes, as on discs and in cameras.
struct TransportPackets {
  /// Where the first begins.
  let start: Int
  /// From one to the next.
  let size: Int

  /// - Returns: nil where it is no transport stream.
  init?(_ file: RandomAccessFile) {
    let layouts = [(start: 0, size: 188), (start: 4, size: 192)]
    let found = layouts.first { layout in
      (0..<3).allSatisfy { file.number(at: layout.start + $0 * layout.size, 1) == 0x47 }
    }
    guard let found else { return nil }
    (start, size) = found
  }
}
