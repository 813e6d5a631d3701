import RetrogradeEngine
import Synchronization

/// Runs jobs that make bytes, each job once for all concurrent clients. Clients can read the bytes
/// while the job runs. A job is cancelled when no client needs it.
final class SingleFlightStreams: Sendable {
  /// Makes bytes, and delivers them in one or more calls of `give`.
  typealias Producer = @Sendable (Cancellation, _ give: @escaping @Sendable ([UInt8]) -> Void) async throws -> Void

  private struct State {
    var flights: [String: Flight] = [:]
    var isClosed = false
  }

  private let keep: @Sendable (_ key: String, [UInt8]) async throws -> StoredBytes
  private let state = Mutex(State())

  /// - Parameter keep: stores the finished bytes.
  init(keep: @escaping @Sendable (_ key: String, [UInt8]) async throws -> StoredBytes) { self.keep = keep }

  /// Number of running jobs.
  var count: Int { state.withLock { $0.flights.count } }

  /// Returns the number of readers of a job.
  func readers(of key: String) -> Int { state.withLock { $0.flights[key] }?.readers ?? 0 }

  /// Stored part, or a reader of a part that is being made.
  enum Found {
    case whole(StoredBytes)
    case begun(PartReader)
  }

  /// Returns a reader of the bytes from `make`. If a job with the same key is running, joins that
  /// job instead.
  func reader(_ key: String, _ make: @escaping Producer) -> PartReader {
    state.withLock { $0.flights[key]?.join(nil) ?? begin(key, nil, make, &$0) }
  }

  /// Like ``reader(_:_:)``, but starts no job for a stored part.
  ///
  /// A part is stored before its job ends. A client that arrives between these two moments joins
  /// the job, so the first client's `onMade` is called before the `onMade` of this client.
  /// - Parameters:
  ///   - find: looks up a stored part.
  ///   - onMade: called when the part is complete; never called if the part was already stored, or
  ///     if the job fails. The first client's `onMade` is called first.
  func part(
    _ key: String, find: () -> StoredBytes?, onMade: @escaping @Sendable () -> Void, _ make: @escaping Producer
  ) -> Found {
    state.withLock { state in
      if let reader = state.flights[key]?.join(onMade) { return .begun(reader) }
      // Look up under the lock, because a job that ends now must not be started again.
      if let kept = find() { return .whole(kept) }
      return .begun(begin(key, onMade, make, &state))
    }
  }

  private func begin(
    _ key: String, _ onMade: (@Sendable () -> Void)?, _ make: @escaping Producer, _ state: inout State
  ) -> PartReader {
    let flight = Flight(onMade)
    state.flights[key] = flight
    flight.start { [self] in
      try await make(flight.cancellation) { flight.add($0) }
      return try await keep(key, flight.bytes)
    } whenOver: { [self] in
      remove(key, flight)
    }
    if state.isClosed { flight.cancel() }
    return PartReader(flight)
  }

  /// Cancels all work, including work that starts later.
  func close() {
    let flights = state.withLock { state in
      state.isClosed = true
      return Array(state.flights.values)
    }
    for flight in flights { flight.cancel() }
  }

  private func remove(_ key: String, _ flight: Flight) {
    state.withLock { if $0.flights[key] === flight { $0.flights[key] = nil } }
  }
}

/// Running job, and its bytes so far.
final class Flight: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var outcome: Result<StoredBytes, any Error>?
    var readers = 1
    var task: Task<Void, Never>?
    var onMade: [@Sendable () -> Void] = []
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var count = 0
  }

  let cancellation = Cancellation()
  private let state: Mutex<State>

  init(_ onMade: (@Sendable () -> Void)?) {
    state = Mutex(State())
    state.withLock { $0.onMade = [onMade].compactMap { $0 } }
  }

  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var readers: Int { state.withLock { $0.readers } }

  /// - Parameter whenOver: called when the outcome is known, after all calls of `onMade`.
  func start(
    _ body: @escaping @Sendable () async throws -> StoredBytes, whenOver: @escaping @Sendable () -> Void
  ) {
    let task = Task { [self] in
      defer { whenOver() }
      do {
        end(.success(try await withTaskCancellationHandler(operation: body) { self.cancellation.cancel() }))
      } catch {
        end(.failure(error))
      }
    }
    state.withLock { $0.task = task }
  }

  /// Adds a reader. Returns nil if all readers have left, or if the job has ended.
  func join(_ onMade: (@Sendable () -> Void)?) -> PartReader? {
    let isJoined = state.withLock { state in
      guard state.readers > 0, state.outcome == nil else { return false }
      state.readers += 1
      state.onMade += [onMade].compactMap { $0 }
      return true
    }
    return isJoined ? PartReader(self) : nil
  }

  func leave() {
    let isLast = state.withLock { state in
      state.readers -= 1
      return state.readers == 0
    }
    if isLast { cancel() }
  }

  func cancel() {
    cancellation.cancel()
    state.withLock { $0.task }?.cancel()
  }

  func add(_ more: [UInt8]) { change { $0.bytes += more } }

  private func end(_ outcome: Result<StoredBytes, any Error>) {
    while let body = next(before: outcome) { body() }
    wake()
  }

  /// Removes and returns the next `onMade`. If there is none, or the job has failed, sets the
  /// outcome and returns nil. Until then, clients can add an `onMade`.
  private func next(before outcome: Result<StoredBytes, any Error>) -> (@Sendable () -> Void)? {
    state.withLock { state in
      if case .success = outcome, !state.onMade.isEmpty { return state.onMade.removeFirst() }
      // From here on readers use the stored bytes.
      (state.outcome, state.bytes, state.onMade) = (outcome, [], [])
      return nil
    }
  }

  private func change(_ body: (inout sending State) -> Void) {
    let waiting = state.withLock { state in
      body(&state)
      defer { state.waiting = [:] }
      return Array(state.waiting.values)
    }
    for waiter in waiting { waiter.resume() }
  }

  enum Found {
    case bytes([UInt8])
    case whole(StoredBytes)
  }

  /// Returns up to `most` bytes from `offset` on, or the stored bytes if the part is complete.
  /// - Parameter isWanted: true while the client waits; checked after each change.
  func more(after offset: Int, most: Int, while isWanted: @escaping @Sendable () -> Bool) async throws -> Found {
    while true {
      try Task.checkCancellation()
      guard isWanted() else { throw CancellationError() }
      let found: Found? = try state.withLock { state in
        if let outcome = state.outcome { return .whole(try outcome.get()) }
        guard offset < state.bytes.count else { return nil }
        return .bytes(Array(state.bytes[offset..<min(offset + most, state.bytes.count)]))
      }
      if let found { return found }
      await change(after: offset, isWanted)
    }
  }

  /// Waits until there are more bytes or an outcome, the reader leaves, or the task is cancelled.
  private func change(after offset: Int, _ isWanted: @escaping @Sendable () -> Bool) async {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // This check notices a cancelled task, or a reader that has left. A later cancellation or
          // departure wakes the waiter.
          if state.outcome != nil || offset < state.bytes.count || Task.isCancelled || !isWanted() { return true }
          state.waiting[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
  }

  /// Wakes all waiting readers. Each reader then checks whether its client still waits.
  func wake() { change { _ in } }
}

/// Reader of a running job. The job counts this reader until the reader is released or leaves.
final class PartReader: Sendable {
  private let flight: Flight
  private let isGone = Atomic(false)

  /// - Parameter flight: job that already counts this reader.
  init(_ flight: Flight) { self.flight = flight }

  deinit { leave() }

  /// Leaves the job, and wakes a waiting ``more(after:)`` of this reader.
  func leave() {
    guard !isGone.exchange(true, ordering: .acquiringAndReleasing) else { return }
    flight.leave()
    flight.wake()
  }

  /// Returns bytes from `offset` on, as soon as there are any, or the stored bytes if the part is
  /// complete.
  /// - Throws: errors of the work; `CancellationError` if this reader left.
  func more(after offset: Int) async throws -> Flight.Found {
    try await flight.more(after: offset, most: PacedBody.piece) { !self.isGone.load(ordering: .acquiring) }
  }

  /// Waits for all bytes.
  func whole() async throws -> StoredBytes {
    while true {
      // The offset is beyond the end of every part, so `more` waits for the stored bytes.
      if case .whole(let bytes) = try await more(after: .max / 2) { return bytes }
    }
  }
}
