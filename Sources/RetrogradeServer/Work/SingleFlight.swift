import RetrogradeEngine
import Synchronization

/// Runs work once for any number of concurrent callers. Work is cancelled when no caller waits for
/// it any more.
final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Flight {
    var number: Int
    var waiting = 1
    let task: Task<Value, any Error>
    let cancellation: Cancellation
  }

  private struct State {
    var flights: [Key: Flight] = [:]
    var count = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Number of running jobs.
  var count: Int { state.withLock { $0.flights.count } }

  /// Returns the number of callers that wait for a job.
  func waiting(for key: Key) -> Int { state.withLock { $0.flights[key]?.waiting ?? 0 } }

  /// Runs `body` and returns its result. If a job with the same key is running, waits for the
  /// result of that job instead.
  ///
  /// - Parameter body: receives a cancellation, which is set when the last waiting caller is
  ///   cancelled.
  func value(
    _ key: Key, _ body: @escaping @Sendable (Cancellation) async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let (number, task) = try state.withLock { state in
      if state.isClosed { throw CancellationError() }
      if let flight = state.flights[key] {
        state.flights[key]?.waiting += 1
        return (flight.number, flight.task)
      }
      state.count += 1
      let number = state.count
      let cancellation = Cancellation()
      let task = Task {
        defer { remove(key, number) }
        return try await withTaskCancellationHandler {
          try await body(cancellation)
        } onCancel: {
          cancellation.cancel()
        }
      }
      state.flights[key] = Flight(number: number, task: task, cancellation: cancellation)
      return (number, task)
    }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      leave(key, number)
    }
  }

  /// Cancels all work and refuses new work.
  func close() {
    let flights = state.withLock { state in
      state.isClosed = true
      return Array(state.flights.values)
    }
    for flight in flights { flight.task.cancel() }
  }

  private func leave(_ key: Key, _ number: Int) {
    let abandoned: Flight? = state.withLock { state in
      guard var flight = state.flights[key], flight.number == number else { return nil }
      flight.waiting -= 1
      // If no caller waits any more, later callers start new work.
      state.flights[key] = flight.waiting > 0 ? flight : nil
      return flight.waiting > 0 ? nil : flight
    }
    abandoned?.cancellation.cancel()
    abandoned?.task.cancel()
  }

  private func remove(_ key: Key, _ number: Int) {
    state.withLock { if $0.flights[key]?.number == number { $0.flights[key] = nil } }
  }
}
