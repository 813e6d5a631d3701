import MediaTime
import RetrogradeEngine

/// One run on its way: its cancellation, its use of memory, its time, and the listener of its progress.
struct Work: Sendable {
  let cancellation: Cancellation
  let gauge = MemoryGauge()
  /// How far all of it is.
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

  /// Runs `body` on a thread of its own; cancelling the task that waits cancels it.
  /// - Parameter name: of the thread.
  static func perform<Value: Sendable>(
    _ name: String, _ listener: @escaping @Sendable (ReversalProgress) -> Void = { _ in },
    _ body: @escaping @Sendable (Work) throws -> Value
  ) async throws -> Value {
    let work = Work(Cancellation(), listener)
    return try await onOwnThread(name, work.cancellation) { try body(work) }
  }

  /// The same run, with a memory count of its own: for a check that comes after the work.
  var apart: Work { Work(cancellation, scale: scale, listener) }

  /// Since it began.
  var elapsed: ClockTime { watch.elapsed }

  /// - Parameters:
  ///   - share: how much of the step is done, from 0 to 1; nil: as much as `done` is of `total`, or `position` of `duration`.
  ///   - total: 0 where it is not known, as is the duration.
  ///   - stageWatch: since when the stage takes; nil: since the work began.
  func report(
    _ step: Step, share: Double? = nil, done: Int = 0, of total: Int = 0, position: ClockTime,
    duration: ClockTime = .zero, since stageWatch: Stopwatch? = nil
  ) {
    let told = ReversalProgress(
      stage: step.stage, done: done, total: total, position: position, duration: duration,
      elapsed: (stageWatch ?? watch).elapsed, memoryHeld: gauge.now, fraction: 0)
    scale.tell(step, share: share ?? told.stageFraction) { fraction, remaining in
      var progress = told
      (progress.fraction, progress.remaining) = (fraction, remaining)
      listener(progress)
    }
  }

  /// Passes on the progress of the same work in another process.
  func relay(_ progress: ReversalProgress) { listener(progress) }

  /// Tells how far the index of a source is.
  func report(_ step: Step, _ progress: IndexProgress) {
    report(step, position: progress.position, duration: progress.end ?? .zero)
  }
}

/// The time since it was made, by a monotonic clock.
struct Stopwatch: Sendable {
  private let start = ContinuousClock.now
  var elapsed: ClockTime { ClockTime(ContinuousClock.now - start) }
}
