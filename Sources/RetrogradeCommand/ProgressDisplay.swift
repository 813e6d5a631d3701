import ArgumentParser
import Glibc
import Retrograde
import RetrogradeEngine

/// Form of the progress output.
enum ProgressForm: String, ExpressibleByArgument, CaseIterable {
  case line, json, none
}

/// Shows progress on standard error, and the summary at the end.
struct ProgressDisplay {
  let form: ProgressForm
  let isQuiet: Bool

  init(_ form: ProgressForm, isQuiet: Bool) {
    self.form = form
    self.isQuiet = isQuiet
  }

  /// Shows the progress and the summary of `reversal`; Ctrl-C and SIGTERM cancel it.
  /// - Parameters:
  ///   - work: folder from which the same command can resume; nil if the command cannot resume.
  ///   - first: called on the first Ctrl-C instead of cancelling; the next Ctrl-C cancels.
  func follow(
    _ reversal: Reversal, _ budget: ByteCount, work: String? = nil, first: (@Sendable () -> Void)? = nil
  ) async throws {
    do {
      let summary = try await Interruption.handled(by: { reversal.cancel() }, first: first) {
        for await progress in reversal.progress { show(progress) }
        clear()
        return try await reversal.summary()
      }
      show(summary, budget)
    } catch let error as RetrogradeError where form == .json {
      Terminal.error(json: ProgressReport.Failed(error))
      throw ReportedError(error: error)
    } catch let error as CancellationError where form == .json {
      Terminal.error(json: ProgressReport.Failed(error))
      throw ReportedError(error: error)
    } catch let error as CancellationError {
      clear()
      let next = work.map { "; the same command resumes from \($0)" } ?? ""
      Terminal.error("retrograde: interrupted: no output was made\(next)")
      throw error
    }
  }

  func show(_ progress: ReversalProgress) {
    switch form {
    case .none: break
    case .line:
      // Leave the last column empty, because a line that fills it may wrap.
      Terminal.write("\r" + ProgressLine(progress).text(width: Terminal.width - 1) + "\u{1B}[K", to: STDERR_FILENO)
    case .json: Terminal.error(json: ProgressReport(progress))
    }
  }

  /// Clears the progress line before a message.
  func clear() {
    if form == .line { Terminal.write("\r\u{1B}[K", to: STDERR_FILENO) }
  }

  /// Shows the summary at the end.
  /// - Parameter input: name of the source in the summary; nil if there is only one file.
  func show(_ summary: Summary, _ budget: ByteCount, input: String? = nil) {
    if form == .json {
      Terminal.error(json: ProgressReport.Done(summary, input: input))
      return
    }
    let name = input.map { "\($0): " } ?? ""
    for warning in summary.warnings { Terminal.error("retrograde: warning: \(name)\(warning.message.inOptions)") }
    if isQuiet { return }
    for line in summary.loop?.words ?? [] { Terminal.error(line) }
    var parts: [String] = []
    if let captured = summary.captured { parts.append("recorded \(counted(captured, "frame"))") }
    if summary.frames > 0 { parts.append((summary.captured == nil ? "" : "wrote ") + counted(summary.frames, "frame")) }
    if let samples = summary.samples.first { parts.append(counted(samples, "sample")) }
    let speed = summary.elapsed > .zero ? summary.duration / summary.elapsed : 0
    parts.append("\(summary.duration) in \(short(summary.elapsed.seconds)) s (\(short(speed))x)")
    parts.append("peak memory \(ByteCount(summary.peakMemory)) of \(budget)")
    if let fetched = summary.fetched { parts.append("\(fetched) fetched into a temporary file") }
    if let plan = summary.plan {
      let count = plan.windows.count
      parts.append(
        plan.method == .forward
          ? "decoded once into a temporary file"
          : "decoded in \(counted(count, "group")) of frames"
            + (plan.peakSpoolBytes > 0 ? ", \(ByteCount(plan.peakSpoolBytes)) in temporary files" : ""))
    }
    let output = summary.output == "-" ? "standard output" : summary.output
    Terminal.error("\(output): " + parts.joined(separator: ", "))
    if let written = summary.written, !written.streams.isEmpty { Terminal.error("  \(written.summary)") }
    for change in summary.changes.unique { Terminal.error("  \(change.message.inOptions)") }
  }

  private func short(_ value: Double) -> String { "\(value.rounded(to: 1))" }
}
