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
