import FoundationEssentials
import RetrogradeEngine

/// Starts child processes, one per task.
package struct ChildRunner: Sendable {
  private let program: String
  /// Arguments that make the program call ``ChildService/run(userInfo:)``.
  private let arguments: [String]
  let limits: ChildLimits

  /// - Parameters:
  ///   - program: path of `retrograde`; by default, this program.
  ///   - arguments: arguments that make the program call ``ChildService/run(userInfo:)``.
  ///   - limits: limits of each process.
  package init(program: String = "/proc/self/exe", arguments: [String], limits: ChildLimits) {
    (self.program, self.arguments, self.limits) = (program, arguments, limits)
  }

  /// Begins a task in a child process.
  ///
  /// After a crash, a hang or excessive memory use, the result is a ``RetrogradeError`` whose code
  /// is `crashed`. The code is `inputOutput` if the process lacked memory or threads.
  /// - Parameter onLine: called with each line that the process writes to its standard error, such
  ///   as a line of GLib's log.
  package func start(_ task: ChildTask, onLine: @escaping @Sendable (String) -> Void) -> Reversal {
    Reversal { work in
      var run = ChildRun(ChildWatch(try process(.once(task)), limits, onLine), task.input)
      return try run.summary(work)
    }
  }

  /// - Throws: ``RetrogradeError`` of code `inputOutput` if no process can be started.
  func process(_ order: ChildRequest) throws -> ChildProcess {
    let line = Array(try JSONEncoder().encode(order)) + [10]
    let process = try ChildProcess(program, arguments)
    // Ignore a failed write: if the process has ended already, ``ChildWatch`` detects that later.
    _ = process.send(line)
    return process
  }
}

/// Task in a child process.
private struct ChildRun {
  private var watch: ChildWatch
  private let input: String
  private var reports = ChildLines()
  private var outcome: ChildReport?

  init(_ watch: ChildWatch, _ input: String) { (self.watch, self.input) = (watch, input) }

  mutating func summary(_ work: Work) throws -> Summary {
    var isCancelled = false
    while watch.ending == nil {
      var lines: [[UInt8]] = []
      watch.wait { output in
        lines = reports.read(from: output)
        return reports.isOpen
      }
      for line in lines { take(line, work) }
      if work.cancellation.isCancelled, !isCancelled {
        isCancelled = true
        watch.noteProgress()
        watch.process.closeInput()
      }
      watch.check(isEnding: isCancelled || outcome != nil)
    }
    var lines: [[UInt8]] = []
    watch.finish { output in
      lines += reports.read(from: output)
      return reports.isOpen
    }
    for line in lines { take(line, work) }
    if case .made(let summary) = outcome { return summary }
    try work.cancellation.check()
    if case .failed(let error) = outcome { throw error }
    throw watch.crash(input)
  }

  private mutating func take(_ line: [UInt8], _ work: Work) {
    guard let report = try? JSONDecoder().decode(ChildReport.self, from: Data(line)) else { return }
    watch.noteProgress()
    if case .progress(let progress) = report { work.relay(progress) } else { outcome = report }
  }
}
