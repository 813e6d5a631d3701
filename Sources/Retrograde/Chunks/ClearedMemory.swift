import CSystemSupport
import Synchronization

/// Memory that holds zeros wherever nothing was written to it.
///
/// x264's macroblock tree (mb-tree) reads memory that it never wrote, and decides by it: without this, x264 0.164 writes other bytes in
/// every few chunks of one process, and always the same with `MALLOC_PERTURB_` set, or without its assembler code.
enum ClearedMemory {
  private static let users = Mutex(0)

  /// Makes malloc clear the memory that it gives out until `body` has ended, in all of the process.
  static func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    users.withLock { count in
      count += 1
      if count == 1 { system_clear_memory(1) }
    }
    defer {
      users.withLock { count in
        count -= 1
        if count == 0 { system_clear_memory(0) }
      }
    }
    return try body()
  }
}
