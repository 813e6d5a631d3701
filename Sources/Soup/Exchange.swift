import Synchronization

/// A request and its answer. Thread-safe. The task that makes the answer is cancelled when the
/// client disconnects.
package final class Exchange: Sendable {
  package let request: Request
  private let queue: LoopQueue
  private let key: Key

  /// Number of the connection, and its ``Connection/requests`` when the request was received.
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
  /// Waits until the client has received the piece, so that each connection has only one piece in
  /// memory.
  /// - Throws: `CancellationError` if the connection ended or timed out.
  package func write(_ bytes: [UInt8]) async throws {
    guard !bytes.isEmpty else { return }
    try await withCheckedThrowingContinuation { continuation in
      let isQueued = queue.add { [key] in $0.write(key, bytes, continuation) }
      if !isQueued { continuation.resume(throwing: CancellationError()) }
    }
  }

  /// Ends a chunked body. Bodies of known length end automatically.
  package func finish() { queue.add { [key] in $0.finish(key) } }

  /// Closes the connection unless the answer is complete.
  package func abort() { queue.add { [key] in $0.abort(key) } }
}

/// Jobs that other threads queue for the loop's thread.
final class LoopQueue: Sendable {
  typealias Job = @Sendable (Loop) -> Void

  private struct State {
    var jobs: [Job] = []
    var isClosed = false
  }

  let context = MainContext()
  private let state = Mutex(State())

  /// - Returns: false if the loop has ended and the job was dropped.
  @discardableResult
  func add(_ job: @escaping Job) -> Bool {
    let isAdded = state.withLock { state in
      if !state.isClosed { state.jobs.append(job) }
      return !state.isClosed
    }
    if isAdded { context.wakeUp() }
    return isAdded
  }

  /// Removes and returns all queued jobs.
  /// - Parameter closing: true to refuse later jobs.
  func take(closing: Bool = false) -> [Job] {
    state.withLock { state in
      if closing { state.isClosed = true }
      defer { state.jobs = [] }
      return state.jobs
    }
  }
}
