import Containers
import CSystemSupport
package import FoundationEssentials
import Dispatch
import Glibc
import RetrogradeEngine

/// Child side of ``ChildRunner``: does the work.
package enum ChildService {
  /// Time to clean up after the parent closed the pipe. The parent may be dead, and can't kill this
  /// process if it hangs.
  private static let grace = DispatchTimeInterval.seconds(10)

  /// Ignores signals that a terminal sends to the whole process group. The parent handles them, and
  /// closes the pipe.
  package static func ignoreTerminalSignals() {
    system_become_child([SIGINT, SIGQUIT, SIGHUP, SIGPIPE], 4)
  }

  /// Does the work ordered on standard input, and reports it on standard output.
  /// - Parameter userInfo: of the encoder, such as ``Warning/naming``.
  /// - Throws: ``RetrogradeError`` of code `usage` if standard input has no order.
  package static func run(userInfo: [CodingUserInfoKey: any Sendable]) async throws {
    // Output of plugins must not get between the reports.
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
      "this command is internal: retrograde starts it, and sends its work on standard input")
  }
}
