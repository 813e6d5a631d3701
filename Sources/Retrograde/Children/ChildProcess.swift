import Containers
import CSystemSupport
import Glibc
import Paths
import RetrogradeEngine
import Synchronization

/// Memory of this machine in bytes.
package var machineBytes: Int { max(sysconf(Int32(_SC_PHYS_PAGES)), 0) * max(sysconf(Int32(_SC_PAGESIZE)), 0) }

/// A process that runs this program for one task, so that a crash ends no other task.
///
/// The child process ends when its standard input is closed, which also happens when the parent
/// dies.
final class ChildProcess: Sendable {
  /// Exit status or signal of a process.
  enum Ending: Sendable, Equatable {
    case exit(status: Int32)
    case signal(Int32)
  }

  /// IDs of the child processes that have not been reaped.
  private static let running = Mutex<Set<Int32>>([])

  private let process: Int32
  private let input: Mutex<Int32?>
  let output: Int32
  let errors: Int32
  /// Pidfd of the process, which becomes readable when the process ends; -1 if the kernel has no
  /// pidfds.
  let end: Int32

  /// - Parameters:
  ///   - program: path of the program to run.
  ///   - arguments: command-line arguments, without the name of the program.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if no process can be started.
  init(_ program: String, _ arguments: [String]) throws {
    var words: [UnsafeMutablePointer<CChar>?] = (["retrograde"] + arguments).map { strdup($0.cPath) } + [nil]
    defer { for word in words { free(word) } }
    var ends: [Int32] = [-1, -1, -1]
    // Start the process under the lock, so that `killAll` misses no process.
    let (process, reason) = ChildProcess.running.withLock { running in
      let process = system_spawn(program, &words, &ends)
      if process > 0 { running.insert(process) }
      return (process, errno)
    }
    guard process > 0 else {
      throw RetrogradeError(
        .inputOutput, "no process can be started: \(String(cString: strerror(reason)))",
        remedy: "raise the limits on processes and open files (ulimit -u, ulimit -n) of this user or container")
    }
    self.process = process
    input = Mutex(ends[0])
    (output, errors, end) = (ends[1], ends[2], system_open_process(process))
  }

  deinit {
    closeInput()
    close(output)
    close(errors)
    if end >= 0 { close(end) }
  }

  /// Writes all bytes to the process's standard input. Blocks until all bytes are written.
  /// - Returns: false if the process no longer reads.
  func send(_ bytes: [UInt8]) -> Bool {
    input.withLock { input in
      guard let input else { return false }
      return bytes.withUnsafeBytes { writeAll($0, to: input) }
    }
  }

  /// Closes the process's standard input, so that the process stops its work and cleans up.
  func closeInput() {
    input.withLock { input in
      if let input { close(input) }
      input = nil
    }
  }

  func kill() {
    ChildProcess.running.withLock { if $0.contains(process) { _ = Glibc.kill(process, SIGKILL) } }
  }

  /// Kills all child processes.
  static func killAll() {
    running.withLock { for process in $0 { _ = Glibc.kill(process, SIGKILL) } }
  }

  /// Reaps the process if it has ended. Callers must repeat the call until the result is not nil;
  /// nil means that the process still runs.
  func ending() -> Ending? {
    ChildProcess.running.withLock { running in
      var status: Int32 = 0
      // Reap under the lock: afterwards, the PID may belong to another process, which must not be
      // killed.
      let ended = waitpid(process, &status, WNOHANG)
      guard ended != 0 else { return nil }
      running.remove(process)
      // If this process ignores SIGCHLD (a parent may have set that), the exit status is unknown.
      guard ended > 0 else { return .exit(status: -1) }
      let signal = status & 0x7F
      return signal == 0 ? .exit(status: status >> 8 & 0xFF) : .signal(signal)
    }
  }

  /// Private memory in bytes, without mapped files (`/proc/PID/statm`); 0 if the process has ended.
  var memory: Int {
    let words = ChildProcess.text(of: "/proc/\(process)/statm").split(separator: " ").compactMap { Int($0) }
    return words.count > 2 ? max(words[1] - words[2], 0) * max(sysconf(Int32(_SC_PAGESIZE)), 0) : 0
  }

  /// Reads a small text file in `/proc`; empty if the file can't be read.
  private static func text(of path: String) -> String {
    let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
  }
}

/// Kills all child processes.
package func killChildren() { ChildProcess.killAll() }
