import Glibc

/// Lines that come through a pipe.
struct ChildLines {
  private var rest: [UInt8] = []
  /// False once the other end is closed.
  private(set) var isOpen = true

  /// Longest line in bytes. What exceeds it is cut into several.
  private static let longest = 64 << 20

  /// Reads once, which blocks if nothing has come.
  /// - Returns: whole lines; the rest once the other end is closed.
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
