import CSystemSupport
import Synchronization

/// Gives the memory of frames back to the system when nothing is decoded any more: glibc keeps freed memory,
/// in as many heaps as there were threads, and an idle server would keep a gigabyte.
enum DecodedMemory {
  /// How many are at work, in all of the process.
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
