#define _GNU_SOURCE

#include "system_support.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int system_find(const char *path) {
  return open(path, O_PATH | O_CLOEXEC);
}

int system_open_unnamed(const char *directory, unsigned mode) {
  return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int system_punch_hole(int descriptor, long offset, long count) {
  return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count);
}

int system_rename_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int system_exchange(const char *one, const char *other) {
  return renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

int system_is_written(int descriptor) {
  // If the file is opened meanwhile, the kernel notifies this process by SIGURG, which is ignored
  // by default (signal(7)).
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -1;
  if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -1;
  fcntl(descriptor, F_SETLEASE, F_UNLCK);
  return 0;
}

static int signals_to = -1;

static void forward_signal(int number, siginfo_t *info, void *context) {
  int before = errno;
  // The process sends these to itself when a write fails (pipe(7), setrlimit(2)).
  int is_own_write = (number == SIGPIPE || number == SIGXFSZ) && info->si_pid == getpid();
  unsigned char byte = (unsigned char)number;
  if (!is_own_write && write(signals_to, &byte, 1) < 0) {
    // The pipe is full of unread signals, so this one can be dropped.
  }
  errno = before;
}

int system_watch_signals(const int *numbers, int count) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  signals_to = ends[1];
  struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigset_t watched;
  sigemptyset(&watched);
  for (int index = 0; index < count; index++) {
    sigaction(numbers[index], &action, NULL);
    sigaddset(&watched, numbers[index]);
  }
  // The parent process may have blocked them for its own threads.
  pthread_sigmask(SIG_UNBLOCK, &watched, NULL);
  return ends[0];
}

int system_flush_output(void) {
  int flushed = fflush(stdout);
  return flushed != 0 || ferror(stdout) ? -1 : 0;
}

void system_begin_thread(const char *name) {
  pthread_setname_np(pthread_self(), name);
  sigset_t aborts;
  sigemptyset(&aborts);
  sigaddset(&aborts, SIGABRT);
  pthread_sigmask(SIG_UNBLOCK, &aborts, NULL);
}

static int lock_byte(int descriptor, int command, short type, long place, struct flock *lock) {
  *lock = (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
  return fcntl(descriptor, command, lock);
}

int system_lock(int descriptor, long place) {
  struct flock lock;
  if (lock_byte(descriptor, F_OFD_SETLK, F_WRLCK, place, &lock) == 0) return 0;
  return errno == EAGAIN || errno == EACCES ? 1 : -1;
}

int system_unlock(int descriptor, long place) {
  struct flock lock;
  return lock_byte(descriptor, F_OFD_SETLK, F_UNLCK, place, &lock);
}

int system_is_locked(int descriptor, long place) {
  struct flock lock;
  if (lock_byte(descriptor, F_OFD_GETLK, F_WRLCK, place, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

void system_clear_memory(int isWanted) {
  // glibc fills allocated memory with the complement of this byte (mallopt(3)).
  mallopt(M_PERTURB, isWanted ? 0xFF : 0);
}

void system_release_memory(void) { malloc_trim(0); }
