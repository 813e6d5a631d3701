#pragma once
// What Linux has and Swift's Glibc module leaves out: everything behind _GNU_SOURCE.

/// open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600): a file without a name. -1 and errno where that fails.
int system_open_unnamed(const char *directory);

/// mkostemp(template, O_CLOEXEC): a new file named after `template`, which ends in XXXXXX and is changed.
int system_make_temporary(char *name_template);

/// renameat2(from, to, RENAME_NOREPLACE): fails with EEXIST rather than replace.
int system_rename_new(const char *from, const char *to);

/// pthread_setname_np(pthread_self(), name): at most 15 bytes.
void system_name_thread(const char *name);

/// From here on, a signal that only a fault in this process sends itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT) writes `text`, the
/// signal and the thread to standard error, and ends the process with `status`.
void system_end_on_crash(const char *text, int status);
