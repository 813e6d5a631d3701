import Synchronization

/// Tells all threads of one piece of work to stop: a flag, at which each of them looks at least every tenth
/// of a second.
///
/// The canceller, perhaps the main actor, does nothing else and waits for nothing. A pipeline is taken down
/// by the thread that runs it, which is told by the flag; that wakes the threads that wait in its appsinks
/// and appsrcs.
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
