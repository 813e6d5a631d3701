/// Passes values from one thread to another. The producer waits until the consumer has taken each
/// value, so a decoder that produces windows of frames is never more than one window ahead.
final class Handoff<Value: Sendable>: @unchecked Sendable {
  private let monitor = Monitor()
  // Guarded by `monitor`.
  private var value: Result<Value, any Error>?
  private var isFinished = false
  private var isClosed = false

  /// Passes `next` on, and waits until the consumer has taken `next`.
  /// - Returns: false if the consumer has closed the handoff.
  func give(_ next: Value) -> Bool {
    monitor.locked {
      guard !isClosed else { return false }
      value = .success(next)
      monitor.wait { value != nil && !isClosed }
      return !isClosed
    }
  }

  /// Ends the handoff. The consumer then receives `error`, or nil if there is no error.
  func finish(throwing error: (any Error)? = nil) {
    monitor.locked {
      if let error { value = .failure(error) }
      isFinished = true
    }
  }

  /// Waits for the next value; returns nil after the last.
  func take() throws -> Value? {
    let taken: Result<Value, any Error>? = monitor.locked {
      monitor.wait { value == nil && !isFinished && !isClosed }
      defer { value = nil }
      return value
    }
    return try taken?.get()
  }

  /// Closes the handoff from the consumer's side, and wakes blocked threads.
  func close() {
    monitor.locked {
      isClosed = true
      value = nil
    }
  }
}
