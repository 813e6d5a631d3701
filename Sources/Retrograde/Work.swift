import MediaTime
import RetrogradeEngine

/// Context of a running job: its cancellation, memory use, elapsed time, and progress listener.
struct Work: Sendable {
  let cancellation: Cancellation
  let gauge = MemoryGauge()
  /// Progress of the whole run.
  let scale: ProgressScale
  private let watch = Stopwatch()
  private let listener: @Sendable (ReversalProgress) -> Void

  init(
    _ cancellation: Cancellation = Cancellation(), scale: ProgressScale = ProgressScale(),
    _ listener: @escaping @Sendable (ReversalProgress) -> Void = { _ in }
  ) {
    self.cancellation = cancellation
    self.scale = scale
    self.listener = listener
  }

  /// Runs `body` on its own thread. Cancelling the waiting task cancels `body`.
  /// - Parameter name: name of the thread.
  static func perform<Value: Sendable>(
    _ name: String, _ listener: @escaping @Sendable (ReversalProgress) -> Void = { _ in },
    _ body: @escaping @Sendable (Work) throws -> Value
  ) async throws -> Value {
    let work = Work(Cancellation(), listener)
    return try await onOwnThread(name, work.cancellation) { try body(work) }
  }

  /// Copy with a new memory gauge and stopwatch, for additional work such as a check of the output.
  /// The memory of the additional work does not count in the job's peak memory.
  var apart: Work { Work(cancellation, scale: scale, listener) }

  /// Time since the start of the work.
  var elapsed: ClockTime { watch.elapsed }

  /// Reports the progress of `step`.
  /// - Parameters:
  ///   - share: share of the step that is done, from 0 to 1; nil: `done` / `total`, or `position` /
  ///     `duration`.
  ///   - total: value of `done` at the end of the step; 0 if unknown. Likewise, `duration` is 0 if
  ///     unknown.
  ///   - stageWatch: stopwatch that was started with the stage; nil: the stage began with the work.
  func report(
    _ step: Step, share: Double? = nil, done: Int = 0, of total: Int = 0, position: ClockTime,
    duration: ClockTime = .zero, since stageWatch: Stopwatch? = nil
  ) {
    let told = ReversalProgress(
      stage: step.stage, done: done, total: total, position: position, duration: duration,
      elapsed: (stageWatch ?? watch).elapsed, memoryHeld: gauge.now, fraction: 0)
    scale.report(step, share: share ?? told.stageFraction) { fraction, remaining in
      var progress = told
      (progress.fraction, progress.remaining) = (fraction, remaining)
      listener(progress)
    }
  }

  /// Passes on the progress that a child process reports for this work.
  func relay(_ progress: ReversalProgress) { listener(progress) }

  /// Reports the indexing progress of a source.
  func report(_ step: Step, _ progress: IndexProgress) {
    report(step, position: progress.position, duration: progress.end ?? .zero)
  }
}

/// Measures monotonic time since the stopwatch was created.
struct Stopwatch: Sendable {
  private let start = ContinuousClock.now
  var elapsed: ClockTime { ClockTime(ContinuousClock.now - start) }
}
