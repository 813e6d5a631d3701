/// Hands values from one thread to another: the giver waits until its value was taken. That is the back-pressure which
/// keeps the window decoder one window ahead, and no more.
final class Handoff<Value: Sendable>: @unchecked Sendable {
  private let monitor = Monitor()
  // Behind `monitor`.
  private var value: Result<Value, any Error>?
  private var isFinished = false
  private var isClosed = false

  /// Gives `next`, and waits until it was taken.
  /// - Returns: false if the taker wants no more.
  func give(_ next: Value) -> Bool {
    monitor.locked {
      guard !isClosed else { return false }
      value = .success(next)
      monitor.wait { value != nil && !isClosed }
      return !isClosed
    }
  }

  /// Ends the handoff: nothing more is coming, or can come because of `error`.
  func finish(throwing error: (any Error)? = nil) {
    monitor.locked {
      if let error { value = .failure(error) }
      isFinished = true
    }
  }

  /// The next value; nil after the last.
  func take() throws -> Value? {
    let taken: Result<Value, any Error>? = monitor.locked {
      monitor.wait { value == nil && !isFinished && !isClosed }
      defer { value = nil }
      return value
    }
    return try taken?.get()
  }

  /// Closes the handoff, since the taker wants no more; wakes blocked threads.
  func close() {
    monitor.locked {
      isClosed = true
      value = nil
    }
  }
}
