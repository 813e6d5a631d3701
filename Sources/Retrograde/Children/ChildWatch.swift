import Glibc
import RetrogradeEngine

/// Reads the output of a child process, and kills the process if it exceeds its limits.
struct ChildWatch {
  let process: ChildProcess
  private let limits: ChildLimits
  private let onLine: @Sendable (String) -> Void
  private var messages = ChildLines()
  private var messageCount = 0
  private var lastMessage: String?
  /// False after the process's standard output was closed.
  var isOutputOpen = true
  /// Exit status or signal of the process; nil while it runs.
  private(set) var ending: ChildProcess.Ending?
  /// Time since the process last reported progress.
  private var silence = Duration.zero
  private var sinceMemoryCheck = Duration.zero
  private var last = ContinuousClock.now
  /// Message about the limit that the process exceeded; nil if it exceeded no limit.
  private var exceeded: Message?

  /// Longest time in milliseconds between two checks of the process. A cancellation takes effect
  /// within this time.
  static let step: Int32 = 100
  private static let memoryStep = Duration.milliseconds(200)
  /// Longest time that the process may take to clean up after a cancellation, or to exit after its
  /// last report.
  private static let grace = Duration.seconds(10)
  /// Largest number of lines of the process's standard error that are passed to `onLine`.
  private static let mostMessages = 100

  init(_ process: ChildProcess, _ limits: ChildLimits, _ onLine: @escaping @Sendable (String) -> Void) {
    (self.process, self.limits, self.onLine) = (process, limits, onLine)
  }

  /// Waits until the process writes something or ends, and reads its output.
  /// - Parameters:
  ///   - milliseconds: longest time to wait.
  ///   - take: reads from the process's standard output; returns false after the output was closed.
  /// - Returns: false if the process neither wrote nor ended in this time.
  @discardableResult
  mutating func wait(_ milliseconds: Int32 = step, take: (_ output: Int32) -> Bool) -> Bool {
    var waiting = [
      pollfd(fd: isOutputOpen ? process.output : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: messages.isOpen ? process.errors : -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: ending == nil ? process.end : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&waiting, 3, milliseconds) > 0 else { return false }
    if waiting[0].revents != 0 { isOutputOpen = take(process.output) }
    if waiting[1].revents != 0 {
      for line in messages.read(from: process.errors) { pass(on: String(decoding: line, as: UTF8.self)) }
    }
    return true
  }

  private mutating func pass(on message: String) {
    guard !message.isEmpty else { return }
    lastMessage = message
    // Don't pass on the crash handler's line, because ``crash(_:)`` puts this line into the error.
    if message.hasPrefix("crashed") { return }
    messageCount += 1
    if messageCount <= ChildWatch.mostMessages { onLine(message) }
  }

  /// Reads the remaining output after the process has ended.
  mutating func finish(take: (_ output: Int32) -> Bool) {
    while isOutputOpen || messages.isOpen, wait(0, take: take) {}
    if messageCount > ChildWatch.mostMessages {
      let hidden = messageCount - ChildWatch.mostMessages
      onLine("\(hidden) more \(hidden == 1 ? "line is" : "lines are") not shown")
    }
  }

  /// Restarts the measurement of silence, because the process made progress or is idle.
  mutating func noteProgress() { silence = .zero }

  /// Checks whether the process has ended, and kills it if it exceeds a limit.
  /// - Parameter isEnding: true if the process should end soon: it was asked to end, or has sent
  ///   its last report.
  mutating func check(isEnding: Bool) {
    ending = process.ending()
    let now = ContinuousClock.now
    // Count at most one second: if more time passed, this process was suspended, and so was the
    // child.
    let passed = min(now - last, .seconds(1))
    last = now
    guard ending == nil, exceeded == nil else { return }
    silence += passed
    sinceMemoryCheck += passed
    let limit = isEnding ? ChildWatch.grace : limits.silence
    if silence > limit {
      exceeded = "the process that read the file made no progress for \(limit.components.seconds) s and was killed"
    } else if sinceMemoryCheck >= ChildWatch.memoryStep {
      sinceMemoryCheck = .zero
      if process.memory > limits.memory.bytes {
        exceeded = "the process that read the file used more than \(limits.memory) of memory and was killed"
      }
    }
    if exceeded != nil { process.kill() }
  }

  /// Creates the error for a child process that ended without reporting a result.
  /// - Parameter input: name of the source.
  func crash(_ input: String) -> RetrogradeError {
    // EX_IOERR means that the process lacked memory or threads, so the input is not at fault. The
    // process's last message names the remedy.
    if exceeded == nil, case .exit(EX_IOERR)? = ending, let lastMessage {
      return RetrogradeError(.inputOutput, about: input, "the process that read the file \(lastMessage)")
    }
    let reason: Message =
      switch (exceeded, ending) {
      case (let exceeded?, _): exceeded
      case (nil, .signal(let number)): "the process that read the file was ended by signal \(number)"
      case (nil, .exit(let status)):
        "the process that read the file \(lastMessage ?? "ended with status \(status) and no message")"
      case (nil, nil): "the process that read the file ended in an unknown way"
      }
    return RetrogradeError(
      .crashed, about: input, reason, remedy: "convert the file with another program first, or update GStreamer")
  }
}
