import CSystemSupport
import Synchronization

/// Returns freed memory of frames to the system when all decoding has ended. Otherwise an idle
/// server would occupy a gigabyte, because glibc retains freed memory in a heap per thread.
enum DecodedMemory {
  /// Number of running calls of ``during(_:)`` in the whole process.
  private static let busy = Mutex(0)

  /// Runs `body`, which decodes and encodes.
  static func during<Value>(_ body: () throws -> Value) rethrows -> Value {
    busy.withLock { $0 += 1 }
    defer {
      let isLast = busy.withLock { busy in
        busy -= 1
        return busy == 0
      }
      if isLast { system_release_memory() }
    }
    return try body()
  }
}
