import Synchronization

/// Flag that stops all threads of one operation. Each thread checks the flag at least every 100 ms.
///
/// Cancelling never blocks, so the main actor may cancel. A thread that runs a pipeline stops the
/// pipeline when the flag is set. Stopping the pipeline wakes the threads that are blocked in the
/// pipeline's appsinks and appsrcs.
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
