#define _GNU_SOURCE
#include "system_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static void close_pipes(int pipes[3][2]) {
  int reason = errno;
  for (int number = 0; number < 3; number++)
    for (int end = 0; end < 2; end++)
      if (pipes[number][end] >= 0) close(pipes[number][end]);
  errno = reason;
}

int system_spawn(const char *program, char *const *arguments, int ends[3]) {
  int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
  for (int number = 0; number < 3; number++) {
    // Close-on-exec from the start: other threads may start children at the same time.
    if (pipe2(pipes[number], O_CLOEXEC) != 0) {
      close_pipes(pipes);
      return -1;
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  for (int number = 0; number < 3; number++)
    posix_spawn_file_actions_adddup2(&actions, pipes[number][number == 0 ? 0 : 1], number);
  // An inherited pipe of this program would stay open, and block its reader, until the child ends.
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  // A terminal sends these to the whole process group. The child ignores them once it runs.
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGQUIT);
  sigaddset(&blocked, SIGHUP);
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t process = -1;
  int status = posix_spawn(&process, program, &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (status != 0) {
    errno = status;
    close_pipes(pipes);
    return -1;
  }
  close(pipes[0][0]);
  close(pipes[1][1]);
  close(pipes[2][1]);
  ends[0] = pipes[0][1];
  ends[1] = pipes[1][0];
  ends[2] = pipes[2][0];
  return process;
}

int system_open_process(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

void system_become_child(const int *ignored, int count) {
  sigset_t signals;
  sigemptyset(&signals);
  for (int number = 0; number < count; number++) {
    signal(ignored[number], SIG_IGN);
    sigaddset(&signals, ignored[number]);
  }
  pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0) return;
  // The parent's own score may be higher, and the kernel refuses to lower it.
  if (write(score, "500", 3) < 0) errno = 0;
  close(score);
}
