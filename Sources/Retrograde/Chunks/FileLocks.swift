import CSystemSupport
import Glibc
import RetrogradeEngine
import Paths

/// Numbered locks; each lock covers one byte of a file. The locks work between all processes that
/// open the file, also on different machines. The kernel releases the locks of a dead process; over
/// NFS, the server releases the locks of a dead machine.
final class FileLocks: Sendable {
  private let path: String

  init(_ path: String) { self.path = path }

  /// Lock that is held until this object is released.
  final class Held: Sendable {
    private let descriptor: Int32
    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }
    deinit { close(descriptor) }
  }

  /// Tries to take lock `number`.
  /// - Parameter makesFile: true to create the lock file if it is missing.
  /// - Returns: nil if another owner holds the lock.
  /// - Throws: ``RetrogradeError`` of code `noInput` if the lock file is missing or was removed; of
  ///   code `inputOutput` if the file can't be opened or locked.
  func take(_ number: Int, makesFile: Bool = false) throws -> Held? {
    // Use a separate open file description, so that the lock also excludes other threads of this
    // process.
    let descriptor = Glibc.open(path.cPath, O_RDWR | (makesFile ? O_CREAT : 0) | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure }
    let held = Held(descriptor)
    switch system_lock(descriptor, number) {
    case 0:
      // Fail if the file was removed after it was opened: other processes would use a new lock
      // file, so this lock would exclude none of them.
      guard let own = FileStamp(descriptor: descriptor), own.number == FileStamp(path)?.number else {
        errno = ENOENT
        throw failure
      }
      return held
    case 1: return nil
    default: throw failure
    }
  }

  /// Takes lock `number`, polling ten times a second while another owner holds it.
  ///
  /// F_OFD_SETLKW would wait in the kernel. But on cancellation, only a signal could end that wait,
  /// and a library should not use the program's signals. Over NFS the kernel polls too, since a
  /// server need not notify its clients (RFC 7530, 9.4).
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
    // ESTALE: another machine removed the file over NFS.
    if [ENOENT, ESTALE].contains(errno) {
      return RetrogradeError(
        .noInput, about: path, "was removed by another program", remedy: "remove the work folder, and start again")
    }
    return RetrogradeError(
      .inputOutput, about: path, "can't be locked: \(String(cString: strerror(errno)))",
      remedy: "use a writable folder on a file system that supports locks")
  }
}
