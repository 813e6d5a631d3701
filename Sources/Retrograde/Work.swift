import MediaTime
import RetrogradeEngine

/// One run on its way: what stops it, what it holds of memory, how long it has taken, and who hears how far it is.
struct Work: Sendable {
  let cancellation: Cancellation
  let gauge = MemoryGauge()
  private let watch = Stopwatch()
  private let listener: @Sendable (ReversalProgress) -> Void

  init(
    _ cancellation: Cancellation = Cancellation(), _ listener: @escaping @Sendable (ReversalProgress) -> Void = { _ in }
  ) {
    self.cancellation = cancellation
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

  /// The same, but what it holds of memory is counted by itself: of a check that comes after the work.
  var apart: Work { Work(cancellation, listener) }

  /// Since it began.
  var elapsed: ClockTime { watch.elapsed }

  /// - Parameters:
  ///   - total: 0 where it is not known, as is the duration.
  ///   - stageWatch: since when the stage takes; nil: since the work began.
  func report(
    _ stage: ReversalProgress.Stage, done: Int = 0, of total: Int = 0, position: ClockTime,
    duration: ClockTime = .zero, since stageWatch: Stopwatch? = nil
  ) {
    listener(
      ReversalProgress(
        stage: stage, done: done, total: total, position: position, duration: duration,
        elapsed: (stageWatch ?? watch).elapsed, memoryHeld: gauge.now))
  }
}

/// The time since it was made, by a clock that nobody sets.
struct Stopwatch: Sendable {
  private let start = ContinuousClock.now
  var elapsed: ClockTime { ClockTime(ContinuousClock.now - start) }
}
