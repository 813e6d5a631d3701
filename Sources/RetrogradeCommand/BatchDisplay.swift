import GStreamer
import Glibc
import Retrograde
import RetrogradeEngine
import Synchronization
import Paths

/// Progress display of a batch: on a terminal, one line for each running job and one for the total;
/// elsewhere, the result of each job.
final class BatchDisplay: Sendable {
  private struct Running {
    var job: MirrorJob
    var size: Double
    var progress: ReversalProgress?
  }

  private struct State {
    var running: [Running] = []
    /// Started jobs that have not succeeded; recorded only if ``total`` is nil.
    var begun: [MirrorJob] = []
    /// Source size of the finished jobs, in bytes.
    var ended = 0.0
    var made: Set<Int> = []
    var failures: [(job: MirrorJob, error: any Error)] = []
    /// Number of terminal lines that the next update replaces.
    var lines = 0
    var drawn: ContinuousClock.Instant?
  }

  private let display: ProgressDisplay
  private let budget: ByteCount
  /// All jobs, and the total size of their sources; nil if more may be added.
  private let total: (jobs: [MirrorJob], size: Double)?
  private let start = ContinuousClock.now
  private let state = Mutex(State())
  private static let pause = Duration.milliseconds(100)

  /// - Parameter jobs: all jobs; nil if more may be added.
  init(_ display: ProgressDisplay, _ budget: ByteCount, _ jobs: [MirrorJob]?) {
    self.display = display
    self.budget = budget
    total = jobs.map { ($0, $0.reduce(0) { $0 + $1.size }) }
  }

  /// Reports that a folder is watched.
  func report(watching folder: String) {
    if display.form == .json {
      Terminal.error(json: ProgressReport.Watching(folder: folder))
    } else if !display.isQuiet {
      Terminal.error("retrograde: \(folder): waiting for new files; Ctrl-C ends the watch")
    }
  }

  func begin(_ job: MirrorJob) {
    state.withLock {
      $0.running.append(Running(job: job, size: job.size))
      if total == nil { $0.begun.append(job) }
      draw(&$0)
    }
  }

  func show(_ progress: ReversalProgress, of job: MirrorJob) {
    state.withLock { state in
      guard let place = state.running.firstIndex(where: { $0.job.number == job.number }) else { return }
      state.running[place].progress = progress
      if display.form == .json {
        Terminal.error(json: ProgressReport(progress, input: job.input, output: job.output))
      } else if state.drawn.map({ ContinuousClock.now - $0 >= BatchDisplay.pause }) ?? true {
        draw(&state)
      }
    }
  }

  /// Reports the result of a job.
  func end(_ job: MirrorJob, _ result: Result<Summary, any Error>) {
    state.withLock { state in
      if let place = state.running.firstIndex(where: { $0.job.number == job.number }) {
        state.ended += state.running.remove(at: place).size
      }
      wipe(&state)
      switch result {
      case .success(let summary):
        state.made.insert(job.number)
        state.begun.removeAll { $0.number == job.number }
        display.show(summary, budget, input: job.input)
      case .failure(_ as CancellationError): break
      case .failure(let error):
        state.failures.append((job, error))
        report(error, of: job)
      }
      draw(&state)
    }
  }

  /// Prints a line from the standard error of the job's process.
  func report(_ line: String, of job: MirrorJob) {
    state.withLock { state in
      wipe(&state)
      if display.form == .json {
        Terminal.error(json: ProgressReport.LogLine(input: job.input, message: line))
      } else {
        Terminal.error("retrograde: \(job.input): \(line)")
      }
      draw(&state)
    }
  }

  private func report(_ error: any Error, of job: MirrorJob) {
    guard let known = error as? RetrogradeError else {
      return Terminal.error("retrograde: \(job.input): \(String(describing: error))")
    }
    if display.form == .json {
      return Terminal.error(json: ProgressReport.Failed(known, input: job.input, output: job.output))
    }
    let isNamed = known.subject == job.input || known.subject == job.output
    Terminal.error("retrograde: \(isNamed ? "" : "\(job.input): ")\(known.message.inOptions)")
  }

  /// Reports how many outputs were made.
  /// - Throws: ``ReportedError`` with a `CancellationError` if `isCancelled` is true; otherwise
  ///   with the error of the first job in the batch that failed.
  func finish(isCancelled: Bool) throws {
    let (made, failures, left) = state.withLock { state in
      wipe(&state)
      let failed = Set(state.failures.map(\.job.number))
      let left = (total?.jobs ?? state.begun).filter { !state.made.contains($0.number) && !failed.contains($0.number) }
      return (state.made.count, state.failures.sorted { $0.job.number < $1.job.number }, left.map(\.input))
    }
    let elapsed = ClockTime(ContinuousClock.now - start).seconds
    if display.form == .json {
      Terminal.error(
        json: ProgressReport.All(
          made: made, failed: failures.count, total: total?.jobs.count, elapsed: elapsed.rounded(to: 3),
          notMade: isCancelled ? left : nil))
    } else if !failures.isEmpty || isCancelled || !display.isQuiet {
      let all = total.map { " of \($0.jobs.count)" } ?? ""
      let noun = (total?.jobs.count ?? made) == 1 ? "file" : "files"
      let failed = failures.isEmpty ? "" : "; \(failures.count) failed: \(BatchDisplay.list(failures.map(\.job.input)))"
      let notMade = left.isEmpty ? "" : "; \(left.count) not reversed: \(BatchDisplay.list(left))"
      Terminal.error(
        "retrograde: \(isCancelled ? "interrupted: " : "")\(made)\(all) \(noun) reversed in "
          + "\(elapsed.rounded(to: 1)) s\(failed)\(notMade)")
    }
    if isCancelled { throw ReportedError(error: CancellationError()) }
    if let first = failures.first { throw ReportedError(error: first.error) }
  }

  private static func list(_ names: [String]) -> String {
    (names.prefix(5) + (names.count > 5 ? ["…"] : [])).joined(separator: ", ")
  }

  // MARK: on a terminal

  private func wipe(_ state: inout State) {
    guard display.form == .line, state.lines > 0 else { return }
    let up = state.lines > 1 ? "\u{1B}[\(state.lines - 1)A" : ""
    Terminal.write("\r\(up)\u{1B}[J", to: STDERR_FILENO)
    state.lines = 0
  }

  private func draw(_ state: inout State) {
    guard display.form == .line, !state.running.isEmpty else { return }
    state.drawn = .now
    // Leave the last column empty, because a line that fills it may wrap.
    let width = Terminal.width - 1
    let names = state.running.map { $0.job.input.lastPart.withoutControls() }
    let nameWidth = min(names.map(\.columns).max() ?? 0, width / 3)
    var lines = zip(names, state.running).map { name, running in
      running.progress.map { ProgressLine($0).text(name, nameWidth: nameWidth, width: width) } ?? name.fitted(to: width)
    }
    if let all = totalProgress(state) { lines.append(all.text(width: width)) }
    let up = state.lines > 1 ? "\u{1B}[\(state.lines - 1)A" : ""
    Terminal.write("\r\(up)\u{1B}[J" + lines.joined(separator: "\n"), to: STDERR_FILENO)
    state.lines = lines.count
  }

  /// Returns the total progress, by the size of the sources; nil if there is only one job, or more
  /// jobs may be added.
  private func totalProgress(_ state: State) -> ProgressLine? {
    guard let total, total.jobs.count > 1 else { return nil }
    let done = state.ended + state.running.reduce(0) { $0 + $1.size * ($1.progress?.fraction ?? 0) }
    let share = total.size > 0 ? min(done / total.size, 0.999) : 0
    let elapsed = ClockTime(ContinuousClock.now - start).seconds
    return ProgressLine(
      "\(state.made.count + state.failures.count) of \(total.jobs.count) files", share: share,
      remaining: share > 0 ? .seconds(elapsed * (1 - share) / share) : nil)
  }
}
