#define _GNU_SOURCE
#include "system_support.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int system_open_unnamed(const char *directory) {
  return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int system_make_temporary(char *name_template) {
  return mkostemp(name_template, O_CLOEXEC);
}

int system_rename_new(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

void system_name_thread(const char *name) {
  pthread_setname_np(pthread_self(), name);
}
