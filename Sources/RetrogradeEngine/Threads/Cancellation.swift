import Synchronization

/// Tells all threads of one piece of work to stop, and wakes those that wait.
///
/// Lock order: none; handlers run outside the lock.
package final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var nextKey = 0
    var handlers: [Int: @Sendable () -> Void] = [:]
  }
  private let state = Mutex(State())

  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  package func check() throws {
    if isCancelled { throw CancellationError() }
  }

  package init() {}

  package func cancel() {
    let handlers = state.withLock { state in
      state.isCancelled = true
      defer { state.handlers = [:] }
      return Array(state.handlers.values)
    }
    for handler in handlers { handler() }
  }

  /// Runs `body`; if the work is cancelled meanwhile, calls `handler` at once, on the thread that cancels.
  package func onCancel<T>(_ handler: @escaping @Sendable () -> Void, while body: () throws -> T) rethrows -> T {
    let key: Int? = state.withLock { state in
      guard !state.isCancelled else { return nil }
      state.nextKey += 1
      state.handlers[state.nextKey] = handler
      return state.nextKey
    }
    guard let key else {
      handler()
      return try body()
    }
    defer { state.withLock { $0.handlers[key] = nil } }
    return try body()
  }
}
