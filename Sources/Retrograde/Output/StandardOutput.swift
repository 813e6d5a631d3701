import Glibc
import RetrogradeEngine

/// Standard output as an output file. All data is first written to a temporary file (the spool),
/// because muxers rewrite headers at the end, and a failed run must output nothing. The complete
/// data is then copied to standard output.
final class StandardOutput: OutputPart {
  private static let name = "standard output"
  private let spool: Spool
  private let cancellation: Cancellation

  /// - Throws: ``RetrogradeError`` of code `usage` if standard output is a terminal; of code
  ///   `cannotCreateOutput` if standard output is closed or open only for reading.
  init(_ resources: Resources, _ cancellation: Cancellation) throws {
    self.cancellation = cancellation
    guard isatty(STDOUT_FILENO) == 0 else {
      throw RetrogradeError(
        .usage, about: StandardOutput.name, "is a terminal, which can't show the output",
        remedy: "redirect it into a file (> out.mkv), or pipe it into a program")
    }
    let flags = fcntl(STDOUT_FILENO, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
      throw RetrogradeError(
        .cannotCreateOutput, about: StandardOutput.name, "is closed", remedy: "redirect it, or give an output file")
    }
    spool = try Spool(directory: resources.spoolDirectory)
  }

  func location(of place: OutputPlace) -> String { spool.path }

  func sync() {}

  func publish() throws {
    var info = stat()
    let isFile = fstat(STDOUT_FILENO, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    // Once `poll` reports a pipe as writable, the pipe accepts PIPE_BUF bytes without blocking. A
    // write of this size therefore never delays cancellation.
    let part = isFile ? 1 << 20 : Int(PIPE_BUF)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: part, alignment: 16)
    defer { bytes.deallocate() }
    let size = try spool.size
    for start in stride(from: 0, to: size, by: part) {
      let next = UnsafeMutableRawBufferPointer(rebasing: bytes[..<min(part, size - start)])
      try spool.read(next, at: start)
      try write(UnsafeRawBufferPointer(next))
    }
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    var done = 0
    while done < bytes.count {
      var waiting = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
      let ready = poll(&waiting, 1, 100)
      try cancellation.check()
      if ready == 0 || ready < 0 && errno == EINTR { continue }
      let count = Glibc.write(STDOUT_FILENO, bytes.baseAddress.map { $0 + done }, bytes.count - done)
      if count < 0 && [EINTR, EAGAIN].contains(errno) { continue }
      guard count > 0 else {
        let reason = errno
        throw RetrogradeError(
          .inputOutput, about: StandardOutput.name, "can't be written: \(String(cString: strerror(reason)))",
          remedy: reason == ENOSPC ? "free some space, or write to another disk" : nil)
      }
      done += count
    }
  }

  func rollBack() -> String? { nil }

  func clear() {}
}
