#define _GNU_SOURCE
#include "system_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/// Margin for a single allocation of a plugin, encoder or thread. Closer to the limit, one has
/// failed.
static const rlim_t address_margin = 256 << 20;

/// Uses only async-signal-safe functions (POSIX), and getrlimit, which is a plain system call.
int system_addresses_are_exhausted(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  int descriptor = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  char text[4096];
  ssize_t size = read(descriptor, text, sizeof text - 1);
  close(descriptor);
  text[size < 0 ? 0 : size] = 0;
  const char *place = strstr(text, "VmPeak:");
  if (!place) return 0;
  for (place += strlen("VmPeak:"); *place == ' ' || *place == '\t'; place++) {}
  rlim_t peak = 0;  // kilobytes
  for (; *place >= '0' && *place <= '9'; place++) peak = peak * 10 + (rlim_t)(*place - '0');
  return limit.rlim_cur < peak * 1024 + address_margin;
}

static const char *crash_text, *exhausted_text;
static int crash_status, exhausted_status;
static atomic_flag is_crashing = ATOMIC_FLAG_INIT;

static size_t put(char *line, size_t place, const char *text) {
  while (*text && place < 500) line[place++] = *text++;
  return place;
}

/// Uses only async-signal-safe functions (POSIX), and prctl, which is a plain system call.
static void crashed(int number) {
  // Other threads that crash meanwhile wait for the end of the process.
  while (atomic_flag_test_and_set(&is_crashing)) pause();
  int is_exhausted = system_addresses_are_exhausted();
  int status = is_exhausted ? exhausted_status : crash_status;
  char line[512], thread[16] = "", digits[3] = {'0' + number / 10, '0' + number % 10, 0};
  prctl(PR_GET_NAME, thread);
  size_t size = put(line, 0, is_exhausted ? exhausted_text : crash_text);
  size = put(line, size, " (signal ");
  size = put(line, size, number < 10 ? digits + 1 : digits);
  size = put(line, size, " in the thread “");
  size = put(line, size, thread);
  size = put(line, size, "”)\n");
  if (write(STDERR_FILENO, line, size) < 0) _exit(status);
  _exit(status);
}

void system_end_on_crash(const char *text, int status, const char *exhausted, int other) {
  crash_text = strdup(text);
  crash_status = status;
  exhausted_text = strdup(exhausted);
  exhausted_status = other;
  if (!crash_text || !exhausted_text) return;
  struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
  // A second fault in the handler ends the process.
  sigfillset(&action.sa_mask);
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}

static const size_t signal_stack_size = 64 << 10;
static pthread_key_t signal_stack_key;

static void free_signal_stack(void *memory) {
  stack_t none = {.ss_flags = SS_DISABLE};
  sigaltstack(&none, NULL);
  munmap(memory, signal_stack_size);
}

static void make_signal_stack_key(void) { pthread_key_create(&signal_stack_key, free_signal_stack); }

void system_use_signal_stack(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  stack_t now;
  if (!crash_text || sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
  pthread_once(&once, make_signal_stack_key);
  void *memory = mmap(NULL, signal_stack_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack = {.ss_sp = memory, .ss_size = signal_stack_size};
  if (pthread_setspecific(signal_stack_key, memory) != 0 || sigaltstack(&stack, NULL) != 0) {
    pthread_setspecific(signal_stack_key, NULL);
    munmap(memory, signal_stack_size);
  }
}
