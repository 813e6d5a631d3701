import CSystemSupport
import Glibc
import RetrogradeEngine
import Paths

/// Locks by number, each on one byte of a file, shared by all processes on all machines that see it. Who dies has let go: the kernel
/// sees to it, and over NFS the server does when the machine is gone.
final class FileLocks: Sendable {
  private let path: String

  init(_ path: String) { self.path = path }

  /// A lock that is held until it is let go, or forgotten.
  final class Held: Sendable {
    private let descriptor: Int32
    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }

  /// Takes lock `number`.
  /// - Parameter makesFile: whether the file of locks is made where there is none.
  /// - Returns: nil where another owner has it.
  /// - Throws: ``RetrogradeError`` of code `noInput`, where the file of locks is not there, or no longer; of
  ///   code `inputOutput`, where the file system has no locks.
  func take(_ number: Int, makesFile: Bool = false) throws -> Held? {
    // A description of its own for each: another one of this process must wait too.
    let descriptor = Glibc.open(path.cPath, O_RDWR | (makesFile ? O_CREAT : 0) | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure }
    let held = Held(descriptor)
    switch system_lock(descriptor, number) {
    case 0:
      // If the file was removed meanwhile, its locks keep no other process out.
      guard let own = FileStamp(descriptor: descriptor), own.number == FileStamp(path)?.number else {
        errno = ENOENT
        throw failure
      }
      return held
    case 1: return nil
    default: throw failure
    }
  }

  /// Takes lock `number`, and waits for it while another owner has it: asks for it ten times a second. The
  /// kernel would wait too (F_OFD_SETLKW), but when the work is cancelled only a signal gets a thread out of
  /// that, and signals are the program's, not a library's; and an NFS server need not notify its clients that
  /// a lock is free, so that there the kernel asks too (RFC 7530, 9.4).
  func wait(for number: Int, makesFile: Bool = false, _ cancellation: Cancellation) throws -> Held {
    while true {
      try cancellation.check()
      if let held = try take(number, makesFile: makesFile) { return held }
      poll(nil, 0, 100)
    }
  }

  /// True if lock `number` is taken.
  func isTaken(_ number: Int) throws -> Bool {
    let descriptor = Glibc.open(path.cPath, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure }
    defer { close(descriptor) }
    let taken = system_is_locked(descriptor, number)
    guard taken >= 0 else { throw failure }
    return taken == 1
  }

  private var failure: RetrogradeError {
    // ESTALE: NFS reports it for a file that another machine has removed.
    if [ENOENT, ESTALE].contains(errno) {
      return RetrogradeError(.noInput, about: path, "is gone", remedy: "remove the folder, and start again")
    }
    return RetrogradeError(
      .inputOutput, about: path, "can't be locked: \(String(cString: strerror(errno)))",
      remedy: "use a folder that you may write in, on a file system with locks")
  }
}
