import Synchronization

/// Queue that limits concurrent work. Waiting jobs are ordered by urgency, then by arrival; a full
/// queue refuses jobs.
final class WorkLine: Sendable {
  enum Urgency: Int, Comparable, Sendable {
    /// Thumbnails, frame strips and waveforms. A job of low urgency starts only if all running jobs
    /// have low urgency.
    case low
    /// Work that a client waits for.
    case usual
    /// Media that a player needs soon.
    case high

    static func < (a: Urgency, b: Urgency) -> Bool { a.rawValue < b.rawValue }
  }

  /// The queue is full.
  struct Busy: Error {}

  private struct Waiter {
    let number: Int
    let urgency: Urgency
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var free: Int
    /// Number of running jobs whose urgency is above low.
    var urgent = 0
    var line: [Waiter] = []
    var count = 0
    /// Waiters whose task was cancelled before they were queued.
    var cancelled: Set<Int> = []

    /// Takes a slot; returns false if none is free for this urgency.
    mutating func begin(_ urgency: Urgency) -> Bool {
      guard free > 0, urgency > .low || urgent == 0 else { return false }
      free -= 1
      urgent += urgency > .low ? 1 : 0
      return true
    }
  }

  private let state: Mutex<State>
  private let slots: Int
  private let longest: Int
  private let onUrgent: @Sendable () -> Void

  /// - Parameters:
  ///   - slots: number of concurrent jobs; at least 1.
  ///   - longest: maximum number of waiting jobs.
  ///   - onUrgent: called when prefetching must stop, because a job of high urgency starts or a job
  ///     above low urgency has to wait.
  init(slots: Int, longest: Int, onUrgent: @escaping @Sendable () -> Void = {}) {
    self.slots = max(slots, 1)
    self.longest = longest
    self.onUrgent = onUrgent
    state = Mutex(State(free: max(slots, 1)))
  }

  /// True if no job above low urgency is running, and a slot is free.
  var isIdle: Bool { state.withLock { $0.urgent == 0 && $0.free > 0 } }

  /// Number of running and waiting jobs.
  var load: (running: Int, waiting: Int) { state.withLock { (slots - $0.free, $0.line.count) } }

  /// Runs `body` as soon as a slot is free for it.
  /// - Throws: ``Busy`` if the queue is full, `CancellationError` if the task is cancelled while it
  ///   waits, or errors of `body`.
  func perform<Value: Sendable>(
    _ urgency: Urgency, _ body: @Sendable () async throws -> Value
  ) async throws -> Value {
    try await enter(urgency)
    defer { leave(urgency) }
    return try await body()
  }

  private func enter(_ urgency: Urgency) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    defer { state.withLock { _ = $0.cancelled.remove(number) } }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        take(Waiter(number: number, urgency: urgency, continuation: continuation))
      }
    } onCancel: {
      cancel(number)
    }
  }

  private func take(_ waiter: Waiter) {
    enum Answer { case go, wait, refuse(any Error) }
    let answer: Answer = state.withLock { state in
      if state.cancelled.remove(waiter.number) != nil { return .refuse(CancellationError()) }
      if state.begin(waiter.urgency) { return .go }
      guard state.line.count < longest else { return .refuse(Busy()) }
      let place = state.line.firstIndex { $0.urgency < waiter.urgency } ?? state.line.count
      state.line.insert(waiter, at: place)
      return .wait
    }
    switch answer {
    case .go:
      if waiter.urgency == .high { onUrgent() }
      waiter.continuation.resume()
    case .wait: if waiter.urgency > .low { onUrgent() }
    case .refuse(let error): waiter.continuation.resume(throwing: error)
    }
  }

  private func cancel(_ number: Int) {
    let waiter: Waiter? = state.withLock { state in
      guard let place = state.line.firstIndex(where: { $0.number == number }) else {
        state.cancelled.insert(number)
        return nil
      }
      return state.line.remove(at: place)
    }
    waiter?.continuation.resume(throwing: CancellationError())
  }

  private func leave(_ urgency: Urgency) {
    let next: [Waiter] = state.withLock { state in
      state.free += 1
      state.urgent -= urgency > .low ? 1 : 0
      var next: [Waiter] = []
      while let first = state.line.first, state.begin(first.urgency) { next.append(state.line.removeFirst()) }
      return next
    }
    for waiter in next { waiter.continuation.resume() }
  }
}
