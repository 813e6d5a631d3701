import Synchronization

/// Flag that stops all threads of one operation. Each thread checks it at least every 100 ms.
///
/// Cancelling never blocks, so the main actor may do it. The thread that runs a pipeline stops it
/// when it sees the flag; that wakes the threads blocked in its appsinks and appsrcs.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package var isCancelled: Bool { flag.load(ordering: .acquiring) }

  package func cancel() { flag.store(true, ordering: .releasing) }

  /// - Throws: `CancellationError`, if the work was cancelled.
  package func check() throws {
    if isCancelled { throw CancellationError() }
  }
}
