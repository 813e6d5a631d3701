import FoundationEssentials
import Glibc
import RetrogradeEngine

/// Starts child processes, which do one piece of work each and end.
package struct ChildRunner: Sendable {
  /// Arguments that have this program call ``ChildService/run(userInfo:)``.
  let arguments: [String]
  let limits: ChildLimits

  package init(arguments: [String], limits: ChildLimits) { (self.arguments, self.limits) = (arguments, limits) }

  /// Begins work in a process of its own.
  ///
  /// A crash, a hang or too much memory is a ``RetrogradeError`` of code `crashed`.
  /// - Parameter said: gets the lines that the process writes to its standard error, such as those of GLib's log.
  package func start(_ task: ChildTask, said: @escaping @Sendable (String) -> Void) -> Reversal {
    Reversal { work in
      let line = Array(try JSONEncoder().encode(task)) + [10]
      let process = try ChildProcess(arguments)
      // If it is dead already, its end says so.
      _ = process.send(line)
      var run = ChildRun(process, task.input, limits, said)
      return try run.summary(work)
    }
  }
}

/// One piece of work in a child process, and the limits it is held to.
private struct ChildRun {
  private let process: ChildProcess
  private let input: String
  private let limits: ChildLimits
  private let said: @Sendable (String) -> Void
  private var reports = ChildLines()
  private var messages = ChildLines()
  private var messageCount = 0
  private var lastMessage: String?
  private var outcome: ChildReport?
  private var ending: ChildProcess.Ending?
  /// Time since the last report.
  private var silence = Duration.zero
  private var sinceMemoryCheck = Duration.zero
  /// Why it was killed.
  private var exceeded: Message?

  /// Longest time between two looks at the process, and between a cancellation and its effect, in milliseconds.
  private static let step: Int32 = 100
  private static let memoryStep = Duration.milliseconds(200)
  /// Time to clean up after a cancellation, and to exit after the last report.
  private static let grace = Duration.seconds(10)
  /// Lines of its standard error that are passed on.
  private static let mostMessages = 100

  init(
    _ process: ChildProcess, _ input: String, _ limits: ChildLimits, _ said: @escaping @Sendable (String) -> Void
  ) {
    (self.process, self.input, self.limits, self.said) = (process, input, limits, said)
  }

  mutating func summary(_ work: Work) throws -> Summary {
    var isCancelled = false
    var last = ContinuousClock.now
    while ending == nil {
      take(waiting: ChildRun.step, work)
      ending = process.ending()
      let now = ContinuousClock.now
      // A process that was stopped, or a machine that slept, did so together with this process.
      let passed = min(now - last, .seconds(1))
      last = now
      if work.cancellation.isCancelled, !isCancelled {
        isCancelled = true
        silence = .zero
        process.closeInput()
      }
      check(passed, isEnding: isCancelled || outcome != nil)
    }
    // Whatever it wrote before its end.
    while reports.isOpen || messages.isOpen, take(waiting: 0, work) {}
    if messageCount > ChildRun.mostMessages { said("\(messageCount - ChildRun.mostMessages) more lines are left out") }
    return try result(work)
  }

  /// Reads what has come.
  /// - Returns: false if nothing came in time.
  @discardableResult
  private mutating func take(waiting milliseconds: Int32, _ work: Work) -> Bool {
    var waiting = [
      pollfd(fd: reports.isOpen ? process.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: messages.isOpen ? process.errors : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: ending == nil ? process.end : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&waiting, 3, milliseconds) > 0 else { return false }
    if waiting[0].revents != 0 {
      for line in reports.read(from: process.output) { take(report: line, work) }
    }
    if waiting[1].revents != 0 {
      for line in messages.read(from: process.errors) { take(message: String(decoding: line, as: UTF8.self)) }
    }
    return true
  }

  private mutating func take(report line: [UInt8], _ work: Work) {
    guard let report = try? JSONDecoder().decode(ChildReport.self, from: Data(line)) else { return }
    silence = .zero
    if case .progress(let progress) = report { work.relay(progress) } else { outcome = report }
  }

  private mutating func take(message: String) {
    guard !message.isEmpty else { return }
    lastMessage = message
    // What the crash handler says becomes the error.
    if message.hasPrefix("crashed") { return }
    messageCount += 1
    if messageCount <= ChildRun.mostMessages { said(message) }
  }

  private mutating func check(_ passed: Duration, isEnding: Bool) {
    guard ending == nil, exceeded == nil else { return }
    silence += passed
    sinceMemoryCheck += passed
    if silence > (isEnding ? ChildRun.grace : limits.silence) {
      exceeded = "the process that read it made no progress for \(limits.silence.components.seconds) s and was killed"
    } else if sinceMemoryCheck >= ChildRun.memoryStep {
      sinceMemoryCheck = .zero
      if process.memory > limits.memory.bytes {
        exceeded = "the process that read it took more than \(limits.memory) of memory and was killed"
      }
    }
    if exceeded != nil { process.kill() }
  }

  private func result(_ work: Work) throws -> Summary {
    if case .made(let summary) = outcome { return summary }
    try work.cancellation.check()
    if case .failed(let error) = outcome { throw error }
    let reason: Message =
      switch (exceeded, ending) {
      case (let exceeded?, _): exceeded
      case (nil, .signal(let number)): "the process that read it was ended by signal \(number)"
      case (nil, .exit) where outcome != nil: "the process that read it was ended by a signal"
      case (nil, .exit(let status)):
        "the process that read it \(lastMessage ?? "ended with status \(status) and without a word")"
      case (nil, nil): "the process that read it was lost"
      }
    throw RetrogradeError(
      .crashed, about: input, reason, remedy: "convert the file with another program first, or update GStreamer")
  }
}
