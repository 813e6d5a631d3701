import CSystemSupport
import Synchronization

/// Gives the memory of frames back to the system when nobody decodes any more: glibc keeps what was freed, in as many heaps as threads had
/// some, and of a server that has nothing to do a gigabyte would be left.
enum DecodedMemory {
  /// How many are at work, in all of the process.
  private static let busy = Mutex(0)

  /// Runs what decodes and encodes.
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
