import CSystemSupport
import Glibc
import Synchronization

/// Dedicated thread for blocking work. Swift's cooperative pool must never wait for media.
package final class Worker<Value: Sendable>: Sendable {
  private final class Start: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private let thread: pthread_t
  private let isJoined = Mutex(false)
  private let result: Result

  private final class Result: Sendable {
    let value = Mutex<Swift.Result<Value, any Error>?>(nil)
  }

  /// Starts `body` on a new thread. Debuggers show `name` (at most 15 bytes).
  package init(_ name: String, _ body: @escaping @Sendable () throws -> Value) throws {
    let result = Result()
    self.result = result
    let start = Start {
      let outcome = Swift.Result { try body() }
      result.value.withLock { $0 = outcome }
    }
    thread = try spawn(name, start.body)
  }

  deinit {
    if !isJoined.withLock({ $0 }) { pthread_detach(thread) }
  }

  /// Waits for the end of the work and returns its result; may be called again.
  package func join() throws -> Value {
    isJoined.withLock { isJoined in
      if !isJoined { pthread_join(thread, nil) }
      isJoined = true
    }
    guard let outcome = result.value.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
  }
}

private func spawn(_ name: String, _ body: @escaping @Sendable () -> Void) throws -> pthread_t {
  final class Box: Sendable {
    let name: String
    let body: @Sendable () -> Void
    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }
  let box = Unmanaged.passRetained(Box(name, body))
  var thread = pthread_t()
  let status = pthread_create(
    &thread, nil,
    { argument in
      guard let argument else { return nil }
      let box = Unmanaged<Box>.fromOpaque(argument).takeRetainedValue()
      system_begin_thread(String(box.name.prefix(15)))
      box.body()
      return nil
    }, box.toOpaque())
  guard status == 0 else {
    box.release()
    throw RetrogradeError.noThread
  }
  return thread
}

/// Work that runs once. The captures of its closure are released before the result is used.
private final class Work<Value: Sendable>: Sendable {
  private let body: Mutex<(@Sendable () throws -> Value)?>
  private let outcome = Mutex<Result<Value, any Error>?>(nil)

  init(_ body: @escaping @Sendable () throws -> Value) { self.body = Mutex(body) }

  func run() {
    guard let body = body.withLock({ $0.take() }) else { return }
    let result = Result { try body() }
    outcome.withLock { $0 = result }
  }

  func value() throws -> Value {
    guard let outcome = outcome.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
  }
}

/// Runs `body` on a new thread and suspends the task until `body` ends, without blocking.
/// Cancelling the task cancels `token`. The captures of `body` are released before the task
/// resumes.
package func onOwnThread<Value: Sendable>(
  _ name: String, _ token: Cancellation, _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  let work = Work(body)
  try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      do {
        let thread = try spawn(name) {
          work.run()
          continuation.resume()
        }
        pthread_detach(thread)
      } catch {
        continuation.resume(throwing: error)
      }
    }
  } onCancel: {
    token.cancel()
  }
  do {
    return try work.value()
  } catch {
    // A cancelled read may look like damage, so report the cancellation instead.
    throw token.isCancelled ? CancellationError() : AddressSpace.explained(error)
  }
}
