import Glibc

/// A mutex, and a condition for the data that it guards. Swift's `Mutex` has none.
package final class Monitor: @unchecked Sendable {
  // The pointers live as long as this object and are only given to pthread_*.
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

  /// Does `body` while no other thread does anything in here, and wakes those who wait.
  package func locked<Value>(_ body: () -> Value) -> Value {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return body()
  }

  /// Wakes those who wait, and waits itself while `isWaiting`: others are let in meanwhile. To be called in here.
  package func wait(while isWaiting: () -> Bool) {
    pthread_cond_broadcast(changed)
    while isWaiting() { pthread_cond_wait(changed, mutex) }
  }
}
