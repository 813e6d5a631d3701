import CSystemSupport
import Synchronization

/// Zeroed memory for x264.
///
/// x264's macroblock tree (mb-tree) reads uninitialized memory, whose bytes affect x264's
/// decisions. With x264 0.164, the same chunk can therefore differ between processes. With
/// `MALLOC_PERTURB_` set, or in x264 without assembler code, the chunks are equal.
enum ClearedMemory {
  private static let users = Mutex(0)

  /// Runs `body`. Until `body` has ended, malloc returns zeroed memory in the whole process.
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
