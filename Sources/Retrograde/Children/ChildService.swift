import Containers
import CSystemSupport
package import FoundationEssentials
import Dispatch
import Glibc
import RetrogradeEngine

/// Performs the task of a ``ChildRunner`` in the child process.
package enum ChildService {
  /// Longest time to clean up after the parent closed the pipe. If the cleanup hangs, this process
  /// must end itself, because the parent may be dead.
  private static let grace = DispatchTimeInterval.seconds(10)

  /// Ignores SIGPIPE, and the signals that a terminal sends to the whole process group. The parent
  /// handles the terminal's signals, and then closes this process's standard input. If memory is
  /// short, the kernel kills this process before the parent (`oom_score_adj`).
  package static func ignoreTerminalSignals() {
    system_become_child([SIGINT, SIGQUIT, SIGHUP, SIGPIPE], 4)
  }

  /// Reads a request from standard input, performs its task, and reports progress and result on
  /// standard output.
  /// - Parameter userInfo: `userInfo` of the JSON encoder, such as ``Warning/naming``.
  /// - Throws: ``RetrogradeError`` of code `usage` if standard input has no request.
  package static func run(userInfo: [CodingUserInfoKey: any Sendable]) async throws {
    // Redirect standard output to standard error, because text that plugins print must not mix with
    // the reports.
    let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    dup2(STDERR_FILENO, STDOUT_FILENO)
    let (order, lines) = try await onOwnThread("order", Cancellation()) { try readOrder() }
    let encoder: @Sendable () -> JSONEncoder = {
      let encoder = JSONEncoder()
      encoder.userInfo = userInfo
      return encoder
    }
    switch order {
    case .once(let task): try await run(task, output, encoder())
    case .segments(let path, let settings):
      let service = SegmentService(output: output, encoder)
      try await onOwnThread("requests", Cancellation()) { service.run(path, settings, lines) }
    }
  }

  private static func run(_ task: ChildTask, _ output: Int32, _ encoder: JSONEncoder) async throws {
    let reversal = task.start()
    _ = try Worker("parent") {
      var lines = ChildLines()
      while lines.isOpen { _ = lines.read(from: STDIN_FILENO) }
      reversal.cancel()
      DispatchQueue.global().asyncAfter(deadline: .now() + grace) { _exit(1) }
    }
    func report(_ report: ChildReport) throws {
      let line = Array(try encoder.encode(report)) + [10]
      _ = line.withUnsafeBytes { writeAll($0, to: output) }
    }
    for await progress in reversal.progress { try report(.progress(progress)) }
    do {
      try report(.made(try await reversal.summary()))
    } catch let error as RetrogradeError {
      try report(.failed(error))
    } catch is CancellationError {
      try report(.cancelled)
    }
  }

  private static func readOrder() throws -> (ChildRequest, ChildLines) {
    var lines = ChildLines()
    while lines.isOpen {
      guard let line = lines.read(from: STDIN_FILENO).first else { continue }
      if let order = try? JSONDecoder().decode(ChildRequest.self, from: Data(line)) { return (order, lines) }
    }
    throw RetrogradeError(
      .usage, about: "standard input",
      "contains no task; this command is internal, and only retrograde itself can start it")
  }
}
