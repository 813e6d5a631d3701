// Makes system calls fail, for disk_faults.py:
//
//   gcc -shared -fPIC -o faultshim.so faultshim.c -ldl; LD_PRELOAD=faultshim.so
//
//   FAULT_CALLS   kind of calls to count: "write" (write, writev, pwrite …), "read", "fsync",
//                 "open", "link", "truncate", "thread"
//   FAULT_UNDER   counts only files and folders whose path begins with this; a file without a name
//                 has the path of its folder
//   FAULT_FIRST   first call that fails, counted from 1; 0: no call fails
//   FAULT_LAST    last call that fails
//   FAULT_ERRNO   error of these calls; 0: they succeed, but transfer only half of their bytes, at
//                 least one
//   FAULT_COUNT   file to which the number of counted calls is written at the end
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;
static long first, last;
static int error;
static const char *kind = "", *under = "";

#define NEXT(name) ((typeof(&name))next(#name))
static void *next(const char *name) {
  return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void begin(void) {
  kind = getenv("FAULT_CALLS") ?: "";
  under = getenv("FAULT_UNDER") ?: "";
  first = atol(getenv("FAULT_FIRST") ?: "0");
  last = atol(getenv("FAULT_LAST") ?: "0");
  error = atoi(getenv("FAULT_ERRNO") ?: "0");
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAULT_COUNT");
  FILE *file = path ? fopen(path, "w") : NULL;
  if (!file) return;
  fprintf(file, "%ld\n", (long)calls);
  fclose(file);
}

void _exit(int status) {
  end();
  NEXT(_exit)(status);
  __builtin_unreachable();
}

static int fails(void) {
  long number = atomic_fetch_add(&calls, 1) + 1;
  return number >= first && number <= last && first > 0;
}

/// Counts a call of kind `wanted` on `path`. True if it must fail.
static int path_fails(const char *wanted, const char *path) {
  return path && !strcmp(kind, wanted) && !strncmp(path, under, strlen(under)) && fails();
}

static int file_fails(const char *wanted, int descriptor) {
  if (strcmp(kind, wanted)) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return path_fails(wanted, path);
}

#define FAIL return errno = error, -1
static size_t part(size_t size) { return size > 1 ? size / 2 : size; }

#define TRANSFER(wanted, name, buffer)                                \
  ssize_t name(int file, buffer data, size_t size) {                  \
    if (file_fails(wanted, file)) {                                   \
      if (error) FAIL;                                                \
      size = part(size);                                              \
    }                                                                 \
    return NEXT(name)(file, data, size);                              \
  }
#define TRANSFER_AT(wanted, name, buffer, type)                       \
  ssize_t name(int file, buffer data, size_t size, type place) {      \
    if (file_fails(wanted, file)) {                                   \
      if (error) FAIL;                                                \
      size = part(size);                                              \
    }                                                                 \
    return NEXT(name)(file, data, size, place);                       \
  }
TRANSFER("write", write, const void *)
TRANSFER_AT("write", pwrite, const void *, off_t)
TRANSFER_AT("write", pwrite64, const void *, off64_t)
TRANSFER("read", read, void *)
TRANSFER_AT("read", pread, void *, off_t)
TRANSFER_AT("read", pread64, void *, off64_t)

ssize_t writev(int file, const struct iovec *parts, int count) {
  if (file_fails("write", file)) {
    // Never shortened: filesink of GStreamer 1.22 loses bytes after a short writev. On plain files,
    // writev is short only before an error.
    if (error) FAIL;
  }
  return NEXT(writev)(file, parts, count);
}

#define ONE_FILE(wanted, name)                       \
  int name(int file) {                               \
    if (file_fails(wanted, file) && error) FAIL;     \
    return NEXT(name)(file);                         \
  }
ONE_FILE("fsync", fsync)
ONE_FILE("fsync", fdatasync)

int ftruncate(int file, off_t size) {
  if (file_fails("truncate", file) && error) FAIL;
  return NEXT(ftruncate)(file, size);
}
int ftruncate64(int file, off64_t size) {
  if (file_fails("truncate", file) && error) FAIL;
  return NEXT(ftruncate64)(file, size);
}

static mode_t mode_of(int flags, va_list rest) {
  return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(rest, mode_t) : 0;
}
#define OPEN(name)                                   \
  int name(const char *path, int flags, ...) {       \
    va_list rest;                                    \
    va_start(rest, flags);                           \
    mode_t mode = mode_of(flags, rest);              \
    va_end(rest);                                    \
    if (path_fails("open", path) && error) FAIL;     \
    return NEXT(name)(path, flags, mode);            \
  }
OPEN(open)
OPEN(open64)
int mkostemp(char *template, int flags) {
  if (path_fails("open", template) && error) FAIL;
  return NEXT(mkostemp)(template, flags);
}

int link(const char *from, const char *to) {
  if (path_fails("link", to) && error) FAIL;
  return NEXT(link)(from, to);
}
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  if (path_fails("link", to) && error) FAIL;
  return NEXT(linkat)(from_folder, from, to_folder, to, flags);
}
int rename(const char *from, const char *to) {
  if (path_fails("link", to) && error) FAIL;
  return NEXT(rename)(from, to);
}
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  if (path_fails("link", to) && error) FAIL;
  return NEXT(renameat2)(from_folder, from, to_folder, to, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  if (!strcmp(kind, "thread") && fails() && error) return error;
  return NEXT(pthread_create)(thread, attributes, body, argument);
}
