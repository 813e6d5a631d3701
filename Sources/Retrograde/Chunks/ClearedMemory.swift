import CSystemSupport
import Synchronization

/// Zeroed memory for x264.
///
/// x264's macroblock tree (mb-tree) reads memory that x264 never wrote, and x264's decisions depend
/// on the bytes in that memory. With x264 0.164, some chunks therefore differ between processes. If
/// `MALLOC_PERTURB_` is set, or if x264 runs without assembler code, chunks do not differ.
enum ClearedMemory {
  private static let users = Mutex(0)

  /// Makes malloc return zeroed memory in the whole process until `body` has ended.
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
