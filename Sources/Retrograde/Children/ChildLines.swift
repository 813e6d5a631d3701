import Glibc

/// Splits the data of a pipe into lines.
struct ChildLines {
  private var rest: [UInt8] = []
  /// False after the other end of the pipe was closed.
  private(set) var isOpen = true

  /// Largest length of a line in bytes. Longer lines are split.
  private static let longest = 64 << 20

  /// Makes one read call on the pipe. Blocks if the pipe has no data.
  /// - Returns: complete lines. After the other end of the pipe was closed, also an incomplete last
  ///   line.
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
