import Glibc

/// Hands values from one thread to another: the giver waits until its value was taken. That is the back-pressure which
/// keeps the window decoder one window ahead, and no more.
final class Handoff<Value: Sendable>: @unchecked Sendable {
  // All state is behind `mutex`; the pointers live as long as this object and are only given to pthread_*.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var value: Result<Value, any Error>?
  private var isFinished = false
  private var isClosed = false

  init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
  }

  private func locked<T>(_ body: () -> T) -> T {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  /// Gives `next`, and waits until it was taken.
  /// - Returns: false if the taker wants no more.
  func give(_ next: Value) -> Bool {
    locked {
      guard !isClosed else { return false }
      value = .success(next)
      pthread_cond_broadcast(changed)
      while value != nil && !isClosed { pthread_cond_wait(changed, mutex) }
      return !isClosed
    }
  }

  /// Says that nothing more is coming, or why nothing more can come.
  func finish(throwing error: (any Error)? = nil) {
    locked {
      if let error { value = .failure(error) }
      isFinished = true
    }
  }

  /// The next value; nil after the last.
  func take() throws -> Value? {
    let taken: Result<Value, any Error>? = locked {
      while value == nil && !isFinished && !isClosed { pthread_cond_wait(changed, mutex) }
      defer { value = nil }
      return value
    }
    return try taken?.get()
  }

  /// Says that the taker wants no more; wakes whoever waits.
  func close() {
    locked {
      isClosed = true
      value = nil
    }
  }
}
