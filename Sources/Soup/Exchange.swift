import Synchronization

/// A request, and its answer. Used on any thread; its task is cancelled when the client hangs up.
package final class Exchange: Sendable {
  package let request: Request
  private let queue: LoopQueue
  private let key: Key

  /// Which request of which connection.
  struct Key: Sendable, Equatable {
    var connection: Int
    var request: Int
  }

  init(_ request: Request, _ key: Key, _ queue: LoopQueue) {
    (self.request, self.key, self.queue) = (request, key, queue)
  }

  /// Sends status and header fields.
  package func begin(_ head: ResponseHead) { queue.add { [key] in $0.begin(key, head) } }

  /// Sends a piece of the body.
  ///
  /// Waits until the client has taken the piece, so that memory holds one piece of a connection.
  /// - Throws: `CancellationError` if the connection ended, or the client took too long.
  package func write(_ bytes: [UInt8]) async throws {
    guard !bytes.isEmpty else { return }
    try await withCheckedThrowingContinuation { continuation in
      let isQueued = queue.add { [key] in $0.write(key, bytes, continuation) }
      if !isQueued { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Ends a body in chunks. Bodies whose length is known end by themselves.
  package func finish() { queue.add { [key] in $0.finish(key) } }

  /// Closes the connection unless the answer is whole.
  package func abort() { queue.add { [key] in $0.abort(key) } }
}

/// Work that other threads leave for the loop's thread.
final class LoopQueue: Sendable {
  typealias Job = @Sendable (Loop) -> Void

  private struct State {
    var jobs: [Job] = []
    var isClosed = false
  }

  let context = MainContext()
  private let state = Mutex(State())

  /// - Returns: false if the loop has ended: the job is dropped.
  @discardableResult
  func add(_ job: @escaping Job) -> Bool {
    let isAdded = state.withLock { state in
      if !state.isClosed { state.jobs.append(job) }
      return !state.isClosed
    }
    if isAdded { context.wakeUp() }
    return isAdded
  }

  /// The jobs that wait, which do so no longer.
  /// - Parameter closing: none are taken after these.
  func take(closing: Bool = false) -> [Job] {
    state.withLock { state in
      if closing { state.isClosed = true }
      defer { state.jobs = [] }
      return state.jobs
    }
  }
}
