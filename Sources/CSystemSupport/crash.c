#define _GNU_SOURCE
#include "system_support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *crash_text;
static int crash_status;

static size_t put(char *line, size_t place, const char *text) {
  while (*text && place < 500) line[place++] = *text++;
  return place;
}

/// Only what POSIX allows in a signal handler, and prctl, which is a system call and nothing else.
static void crashed(int number) {
  char line[512], thread[16] = "", digits[3] = {'0' + number / 10, '0' + number % 10, 0};
  prctl(PR_GET_NAME, thread);
  size_t size = put(line, 0, crash_text);
  size = put(line, size, " (signal ");
  size = put(line, size, number < 10 ? digits + 1 : digits);
  size = put(line, size, " in the thread “");
  size = put(line, size, thread);
  size = put(line, size, "”)\n");
  if (write(STDERR_FILENO, line, size) < 0) _exit(crash_status);
  _exit(crash_status);
}

void system_end_on_crash(const char *text, int status) {
  crash_text = strdup(text);
  crash_status = status;
  if (!crash_text) return;
  struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_RESETHAND | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, NULL);
}
