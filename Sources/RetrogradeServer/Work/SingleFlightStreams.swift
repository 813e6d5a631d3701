import RetrogradeEngine
import Synchronization

/// Bytes that are made once for any number of concurrent clients, and can be read meanwhile. The
/// work is cancelled when no client needs it.
final class SingleFlightStreams: Sendable {
  /// Makes bytes and delivers them in pieces.
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

  /// Number of readers of a job.
  func readers(of key: String) -> Int { state.withLock { $0.flights[key] }?.readers ?? 0 }

  /// Stored part, or a reader of one that is being made.
  enum Found {
    case whole(StoredBytes)
    case begun(PartReader)
  }

  /// Reader of the result of `make`, which runs unless it is already running for the same key.
  func reader(_ key: String, _ make: @escaping Producer) -> PartReader {
    state.withLock { $0.flights[key]?.join(nil) ?? begin(key, nil, make, &$0) }
  }

  /// Like ``reader(_:_:)``, but starts no work for a stored part.
  ///
  /// A part is stored before its work ends. A client that arrives in between joins the work, so
  /// `onMade` is called only after that of the first client.
  /// - Parameters:
  ///   - find: looks up a stored part.
  ///   - onMade: called if and when the part is complete: the first client's before the others'.
  func part(
    _ key: String, find: () -> StoredBytes?, onMade: @escaping @Sendable () -> Void, _ make: @escaping Producer
  ) -> Found {
    state.withLock { state in
      if let reader = state.flights[key]?.join(onMade) { return .begun(reader) }
      // Under the lock, so that work that ends meanwhile is not started again.
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

  /// Cancels all work, also work that starts later.
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

  /// - Parameter whenOver: called once the outcome is known and all `onMade` were called.
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

  /// Adds a reader; nil if all readers have left, or the work has ended.
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

  /// Next `onMade`. If none is left, sets the outcome and returns nil; clients can add theirs until
  /// then.
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

  /// Up to `most` bytes after the first `offset`; the stored bytes once all were made.
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

  /// Waits for more bytes, an outcome, the reader to leave, or the cancellation of the task.
  private func change(after offset: Int, _ isWanted: @escaping @Sendable () -> Bool) async {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // A cancellation or a leaving reader is seen by this check, or finds the waiter.
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

  /// Makes all waiting readers check again whether they are still needed.
  func wake() { change { _ in } }
}

/// Reader of bytes that are being made, until it is released or leaves.
final class PartReader: Sendable {
  private let flight: Flight
  private let isGone = Atomic(false)

  /// - Parameter flight: job that already counts this reader.
  init(_ flight: Flight) { self.flight = flight }

  deinit { leave() }

  /// Leaves the job; wakes its waiting ``more(after:)``.
  func leave() {
    guard !isGone.exchange(true, ordering: .acquiringAndReleasing) else { return }
    flight.leave()
    flight.wake()
  }

  /// Bytes after the first `offset`, as soon as there are any; the stored bytes once all were made.
  /// - Throws: errors of the work; `CancellationError` if this reader left.
  func more(after offset: Int) async throws -> Flight.Found {
    try await flight.more(after: offset, most: PacedBody.piece) { !self.isGone.load(ordering: .acquiring) }
  }

  /// Waits for all bytes.
  func whole() async throws -> StoredBytes {
    while true {
      // An offset that is never reached.
      if case .whole(let bytes) = try await more(after: .max / 2) { return bytes }
    }
  }
}
