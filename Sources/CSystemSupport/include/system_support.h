#pragma once
// Functions of Linux that Swift's Glibc module leaves out: everything behind _GNU_SOURCE.

/// open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, mode): a file without a name. -1 and errno where that fails.
int system_open_unnamed(const char *directory, unsigned mode);

/// open(path, O_PATH | O_CLOEXEC): what a path leads to, of which nothing is read, and no device or pipe is opened. -1 and errno if that fails.
int system_find(const char *path);

/// fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, count): the disk gets back the whole blocks among these bytes, which
/// read as zeros then. -1 and errno where that fails: EOPNOTSUPP where the file system has no such holes.
int system_punch_hole(int descriptor, long offset, long count);

/// renameat2(from, to, RENAME_NOREPLACE): fails with EEXIST rather than replace.
int system_rename_new(const char *from, const char *to);
/// Has two files change names in one step: renameat2 with RENAME_EXCHANGE.
int system_exchange(const char *one, const char *other);

/// Has these signals do nothing but come out of a pipe, a byte each: its number.
///
/// Drops SIGPIPE and SIGXFSZ that the system sends because a write of this process fails: the write fails all
/// the same.
/// Returns the end to read from; -1 and errno where that fails. To be called once.
int system_watch_signals(const int *numbers, int count);

/// Writes what standard output still holds back. -1 where that fails, or where a write failed before: errno says why.
int system_flush_output(void);

/// Names the calling thread (at most 15 bytes) and unblocks SIGABRT in it and in the threads that it starts.
/// Swift's own threads block SIGABRT; abort() of glibc 2.41 and later then skips the handler.
void system_begin_thread(const char *name);

/// From here on, a signal that only a fault in this process sends itself (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT) writes `text`, the
/// signal and the thread to standard error, and ends the process with `status`; or `exhausted` and `other`, if
/// system_addresses_are_exhausted.
void system_end_on_crash(const char *text, int status, const char *exhausted, int other);

/// Gives the calling thread a stack for signal handlers, until it ends, so that system_end_on_crash can report a thread that exhausted
/// its own. Does nothing if system_end_on_crash was not called, or the thread has such a stack.
void system_use_signal_stack(void);

/// True if the process has come so near to the limit on its addresses (`ulimit -v`, RLIMIT_AS) that memory was refused.
/// The limit also counts what is reserved and never used.
int system_addresses_are_exhausted(void);

/// Whether anybody has the file open to write to it: 1 or 0; -1 and errno where nobody can tell, as of another user's file, or on NFS. It is
/// found out by a lease (F_SETLEASE, fcntl(2)), which is given back at once.
int system_is_written(int descriptor);

/// From here on, memory from malloc holds zeros wherever nothing has been written to it, and what reads it all the same reads the same
/// each time; with 0, no longer.
void system_clear_memory(int isWanted);

/// Gives memory that was freed, and that malloc keeps for later, back to the system.
void system_release_memory(void);

/// Takes the lock on byte `place` of a file, for as long as `descriptor` is open, or until system_unlock: an open file description lock
/// (F_OFD_SETLK, fcntl(2)), which the kernel lets go when the process dies, and NFS when the machine does. 0; 1 where somebody else has it;
/// -1 and errno where there are no locks.
int system_lock(int descriptor, long place);
int system_unlock(int descriptor, long place);
/// Whether somebody else has that lock: 1 or 0; -1 and errno where there are no locks.
int system_is_locked(int descriptor, long place);

/// Starts `program` with `arguments`, which a NULL ends, in this environment. SIGINT, SIGQUIT and SIGHUP are blocked in it.
///
/// `ends` gets this process's ends of the three pipes that are its standard input, output and error; no other child gets them.
/// Returns its process ID; -1 and errno if it cannot be started.
int system_spawn(const char *program, char *const *arguments, int ends[3]);

/// A descriptor that poll(2) finds readable once that child has ended (pidfd_open(2)). -1 and errno if there is none.
int system_open_process(int process);

/// Ignores signals, and takes them out of the calling thread's mask. Has the kernel end this process rather than others if the
/// machine runs out of memory.
void system_become_child(const int *ignored, int count);
