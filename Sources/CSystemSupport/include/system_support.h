#pragma once
// Linux functions that Swift's Glibc module lacks: everything behind _GNU_SOURCE.

/// Creates an unnamed file: open(directory, O_TMPFILE
/// O_RDWR
/// O_CLOEXEC, mode). -1 and errno on failure.
int system_open_unnamed(const char *directory, unsigned mode);

/// Opens a path as a reference only: open(path, O_PATH
/// O_CLOEXEC). Reads nothing, and opens no device or pipe. -1 and errno on failure.
int system_find(const char *path);

/// Frees the whole blocks in a range, which then read as zeros: fallocate(descriptor,
/// FALLOC_FL_PUNCH_HOLE
/// FALLOC_FL_KEEP_SIZE, offset, count). -1 and errno on failure: EOPNOTSUPP if the file system has
/// no holes.
int system_punch_hole(int descriptor, long offset, long count);

/// Renames without replacing: renameat2(from, to, RENAME_NOREPLACE) fails with EEXIST.
int system_rename_new(const char *from, const char *to);
/// Exchanges the names of two files atomically: renameat2 with RENAME_EXCHANGE.
int system_exchange(const char *one, const char *other);

/// Replaces the effect of these signals by a byte in a pipe: the signal's number.
///
/// Ignores SIGPIPE and SIGXFSZ that the system sends because a write of this process fails; the
/// write still fails.
/// Returns the read end; -1 and errno on failure. Must be called only once.
int system_watch_signals(const int *numbers, int count);

/// Flushes standard output. -1 and errno if that fails, or an earlier write failed.
int system_flush_output(void);

/// Names the calling thread (at most 15 bytes) and unblocks SIGABRT in it and in the threads that
/// it starts. Swift's own threads block SIGABRT, and abort() of glibc 2.41 and later then skips the
/// handler.
void system_begin_thread(const char *name);

/// Installs a crash handler for the signals of faults in this process (SIGSEGV, SIGBUS, SIGFPE,
/// SIGILL, SIGTRAP, SIGABRT). It writes `text`, the signal and the thread to standard error, and
/// ends the process with `status`; or `exhausted` and `other` if system_addresses_are_exhausted.
void system_end_on_crash(const char *text, int status, const char *exhausted, int other);

/// Gives the calling thread a signal stack until it ends, so that system_end_on_crash can report a
/// stack overflow. Does nothing if system_end_on_crash was not called, or the thread has a signal
/// stack.
void system_use_signal_stack(void);

/// True if the process came so close to the limit of its address space (`ulimit -v`, RLIMIT_AS)
/// that an allocation failed. The limit includes reserved memory that is never used.
int system_addresses_are_exhausted(void);

/// Returns 1 if a file is open for writing anywhere, or 0; -1 and errno if unknown, for example for
/// another user's file, or on NFS. Checked with a lease (F_SETLEASE, fcntl(2)), which is released
/// immediately.
int system_is_written(int descriptor);

/// Makes malloc return memory filled with zeros, so that reads of uninitialised memory are
/// reproducible; 0 disables this.
void system_clear_memory(int isWanted);

/// Returns freed memory that malloc retains to the system.
void system_release_memory(void);

/// Locks byte `place` of a file until `descriptor` is closed, or until system_unlock: an open file
/// description lock (F_OFD_SETLK, fcntl(2)). The kernel releases it when the process dies, NFS when
/// the machine does. Returns 0; 1 if the lock is taken; -1 and errno if locks are not supported.
int system_lock(int descriptor, long place);
int system_unlock(int descriptor, long place);
/// Returns 1 if another descriptor holds that lock, or 0; -1 and errno if locks are not supported.
int system_is_locked(int descriptor, long place);

/// Starts `program` with NULL-terminated `arguments` in this environment, with SIGINT, SIGQUIT and
/// SIGHUP blocked.
///
/// `ends` receives this process's ends of the three pipes for its standard input, output and error;
/// no other child inherits them.
/// Returns its process ID; -1 and errno if it cannot be started.
int system_spawn(const char *program, char *const *arguments, int ends[3]);

/// Returns a descriptor that becomes readable for poll(2) when the child ends (pidfd_open(2)). -1
/// and errno on failure.
int system_open_process(int process);

/// Ignores signals and unblocks them in the calling thread. Makes the kernel kill this process
/// before others if the machine runs out of memory.
void system_become_child(const int *ignored, int count);
