import CSystemSupport
import Glibc
import RetrogradeEngine

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
  /// - Returns: nil where somebody else has it.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`, where the file system has no locks.
  func take(_ number: Int) throws -> Held? {
    // A description of its own for each: another one of this process must wait too.
    let descriptor = try open()
    let held = Held(descriptor)
    switch system_lock(descriptor, number) {
    case 0: return held
    case 1: return nil
    default: throw failure
    }
  }

  /// Takes lock `number`, and waits for it while somebody else has it. NFS tells nobody when a lock is free: so it is asked for ten times
  /// a second.
  func wait(for number: Int, _ cancellation: Cancellation) throws -> Held {
    while true {
      try cancellation.check()
      if let held = try take(number) { return held }
      poll(nil, 0, 100)
    }
  }

  /// Whether anybody has lock `number`.
  func isTaken(_ number: Int) throws -> Bool {
    let descriptor = try open()
    defer { close(descriptor) }
    let taken = system_is_locked(descriptor, number)
    guard taken >= 0 else { throw failure }
    return taken == 1
  }

  private func open() throws -> Int32 {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure }
    return descriptor
  }

  private var failure: RetrogradeError {
    RetrogradeError(
      .inputOutput, about: path, "can't be locked: \(String(cString: strerror(errno)))",
      remedy: "use a folder on a file system that has locks, and where you may write")
  }
}
