// Tells ThreadSanitizer about the locks of libraries that are not built for it.
// `make test SANITIZE=thread` links this file before these libraries. Each function here replaces
// the library's own, calls it, and reports its effect to the sanitizer. This suppresses no reports:
// a lock that is not held still orders nothing.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

// Looks up the library's function, once. Racing threads store the same value.
#define ORIGINAL(type, name)                                                                                           \
  static type original;                                                                                                \
  type function = __atomic_load_n(&original, __ATOMIC_ACQUIRE);                                                        \
  if (!function) {                                                                                                     \
    function = (type)dlsym(RTLD_NEXT, name);                                                                           \
    __atomic_store_n(&original, function, __ATOMIC_RELEASE);                                                           \
  }

// Swift's Mutex. Without contention, its atomic instructions are inlined into our code, and the
// sanitizer sees them. With contention, libswiftSynchronization spins, and then asks the kernel,
// which changes the lock's word (FUTEX_LOCK_PI).
#define SWIFT_METHOD __attribute__((swiftcall))
#define SWIFT_SELF __attribute__((swift_context))
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT_METHOD void mutex_lock_slow(uint32_t thread, SWIFT_SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT_METHOD void mutex_unlock_slow(SWIFT_SELF void *mutex) __asm__(UNLOCK_SLOW);
typedef SWIFT_METHOD void (*LockSlow)(uint32_t thread, SWIFT_SELF void *mutex);
typedef SWIFT_METHOD void (*UnlockSlow)(SWIFT_SELF void *mutex);

SWIFT_METHOD void mutex_lock_slow(uint32_t thread, SWIFT_SELF void *mutex) {
  ORIGINAL(LockSlow, LOCK_SLOW)
  function(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT_METHOD void mutex_unlock_slow(SWIFT_SELF void *mutex) {
  ORIGINAL(UnlockSlow, UNLOCK_SLOW)
  __tsan_release(mutex);
  function(mutex);
}

// GLib's mutexes and conditions, by which GStreamer passes everything from thread to thread. GLib's
// other locks are those of the C library, which the sanitizer knows.
typedef void (*OnMutex)(void *mutex);
typedef int (*TryMutex)(void *mutex);
typedef void (*OnCondition)(void *condition, void *mutex);
typedef int (*OnConditionUntil)(void *condition, void *mutex, int64_t end);

void g_mutex_lock(void *mutex) {
  ORIGINAL(OnMutex, "g_mutex_lock")
  function(mutex);
  __tsan_acquire(mutex);
}

int g_mutex_trylock(void *mutex) {
  ORIGINAL(TryMutex, "g_mutex_trylock")
  int is_locked = function(mutex);
  if (is_locked) __tsan_acquire(mutex);
  return is_locked;
}

void g_mutex_unlock(void *mutex) {
  ORIGINAL(OnMutex, "g_mutex_unlock")
  __tsan_release(mutex);
  function(mutex);
}

void g_cond_wait(void *condition, void *mutex) {
  ORIGINAL(OnCondition, "g_cond_wait")
  __tsan_release(mutex);
  function(condition, mutex);
  __tsan_acquire(mutex);
}

int g_cond_wait_until(void *condition, void *mutex, int64_t end) {
  ORIGINAL(OnConditionUntil, "g_cond_wait_until")
  __tsan_release(mutex);
  int is_signalled = function(condition, mutex, end);
  __tsan_acquire(mutex);
  return is_signalled;
}
