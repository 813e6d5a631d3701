import Glibc

/// Has work that nobody waits for stand still while somebody waits for other work: both would take twice as long.
final class RightOfWay: @unchecked Sendable {
  // All state is behind `mutex`; the pointers live as long as this object and are only given to pthread_*.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var takers = 0

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
    defer { pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Does `work` before all else.
  func take<Value>(_ work: () throws -> Value) rethrows -> Value {
    locked { takers += 1 }
    defer {
      locked {
        takers -= 1
        if takers == 0 { pthread_cond_broadcast(changed) }
      }
    }
    return try work()
  }

  /// Whether work is done before all else.
  var isTaken: Bool { locked { takers > 0 } }

  /// Waits while it is, also where the work that waits is cancelled: what goes before it ends soon then, being part of the same.
  func give() {
    locked { while takers > 0 { pthread_cond_wait(changed, mutex) } }
  }
}
