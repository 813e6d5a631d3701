import CSystemSupport
import Glibc
import RetrogradeEngine
import Synchronization

/// Has a file go to the disk while it is being made. It gets its name when all of it is there: the disk would have nothing to do until then, and
/// everything at the end.
final class WriteBehind: Sendable {
  private struct State {
    /// What was written since the system was last told to.
    var bytes = 0
    var isUnderWay = false
  }
  private let state = Mutex(State())
  private let descriptor: Int32

  /// How much is left to the system before it is told, in bytes: what is written and changed again soon, as headers are, is there by then.
  private static let step = 8 << 20

  /// - Returns: nil where it can't be opened.
  init?(_ path: String) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return nil }
  }

  deinit { close(descriptor) }

  /// Notes that so many bytes more were written. Whoever writes waits for no disk: telling the system may take as long as it has much to do.
  func wrote(_ count: Int) {
    let isDue = state.withLock { state in
      state.bytes += count
      guard state.bytes >= WriteBehind.step, !state.isUnderWay else { return false }
      state = State(isUnderWay: true)
      return true
    }
    guard isDue else { return }
    let worker = try? Worker("write behind") { [self] in
      // What can't be written is told by whoever waits for all of it.
      _ = system_write_soon(descriptor)
      state.withLock { $0.isUnderWay = false }
    }
    if worker == nil { state.withLock { $0.isUnderWay = false } }
  }
}
