import CSystemSupport
import Glibc

/// Unnamed file with the fuzzer's bytes, for readers that need a path.
struct ScratchFile {
  /// Descriptor of a file in memory.
  private let descriptor = system_open_unnamed("/dev/shm", 0o600)

  var path: String { "/proc/self/fd/\(descriptor)" }

  func fill(_ bytes: [UInt8]) {
    precondition(ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
  }

  static let shared = ScratchFile()

  /// Writes `bytes` to the shared file and returns its path. The next call overwrites the file.
  static func path(_ bytes: [UInt8]) -> String {
    shared.fill(bytes)
    return shared.path
  }
}

/// Source of numbers that are read from the fuzzer's bytes in order. After the last byte, all bytes
/// read as 0.
struct Draw {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func number(_ range: ClosedRange<Int>) -> Int {
    let value = (0..<8).reduce(UInt64(0)) { sum, _ in sum << 8 | UInt64(byte()) }
    return range.lowerBound + Int(value % UInt64(range.count))
  }

  /// Reads a time: a short one of less than 5 s, an extreme one, or an arbitrary one.
  mutating func nanoseconds() -> Int64 {
    switch byte() % 4 {
    case 0: return Int64(byte()) << 24
    case 1: return Int64(truncatingIfNeeded: number(0...Int.max - 1))
    case 2: return [Int64.max, Int64.max - 1, 1 << 62, 0, 1, -1, -1_000_000_000, Int64.min / 4][Int(byte() % 8)]
    default: return Int64(byte()) << 16 | Int64(byte())
    }
  }

  /// Reads all remaining bytes.
  mutating func remainder() -> [UInt8] {
    defer { rest = [] }
    return Array(rest)
  }
}
