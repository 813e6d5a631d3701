import Glibc

/// Splits the data of a pipe into lines.
struct ChildLines {
  private var rest: [UInt8] = []
  /// False after the other end was closed.
  private(set) var isOpen = true

  /// Largest length of a line in bytes. Longer lines are split.
  private static let longest = 64 << 20

  /// Reads once. Blocks if there is no data.
  /// - Returns: complete lines; also the incomplete last one when the other end is closed.
  mutating func read(from descriptor: Int32) -> [[UInt8]] {
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, filled in
      filled = max(Glibc.read(descriptor, buffer.baseAddress, buffer.count), 0)
    }
    isOpen = !bytes.isEmpty
    var lines: [[UInt8]] = []
    var start = 0
    while let end = bytes[start...].firstIndex(of: 10) {
      lines.append(rest + bytes[start..<end])
      rest = []
      start = end + 1
    }
    rest += bytes[start...]
    if !rest.isEmpty, !isOpen || rest.count > ChildLines.longest {
      lines.append(rest)
      rest = []
    }
    return lines
  }
}
