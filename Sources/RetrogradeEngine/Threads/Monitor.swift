import Glibc

/// Mutex with a condition variable, which Swift's `Mutex` lacks.
package final class Monitor: @unchecked Sendable {
  // The pointers live as long as this object and are passed only to pthread_*.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(changed)
    mutex.deallocate()
    changed.deallocate()
  }

  /// Runs `body` with the mutex locked, then wakes all waiting threads.
  package func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  /// Wakes all waiting threads, then waits while `isWaiting` is true, with the mutex unlocked. Call
  /// this only inside `locked(_:)`.
  package func wait(while isWaiting: () -> Bool) {
    pthread_cond_broadcast(changed)
    while isWaiting() { pthread_cond_wait(changed, mutex) }
  }
}
