import MediaTime
import RetrogradeEngine
import Synchronization

/// Makes the wanted chunks of a plan, several at once.
final class ChunkRun: Sendable {
  private struct State {
    var states: ChunkStates
    var made = ChunkedReversal.RunOutcome()
    /// Chunks that failed in this run.
    var given: Set<Int> = []
    /// Number of chunks that may still be started.
    var left: Int
    /// Number of frames to make: in all wanted chunks or, if `limit` is set, in the chunks started
    /// so far.
    var total = 0
    /// Number of finished frames out of `total`.
    var done = 0
    /// Number of finished frames of each chunk that is being made.
    var underWay: [Int: Int] = [:]
    /// Largest number of frames reported so far; never lowered, so that a retried chunk does not
    /// lower the progress.
    var shown = 0
  }
  private let folder: WorkFolder
  private let plan: ChunkPlan
  private let maker: ChunkMaker
  private let owner: Work
  private let wanted: Range<Int>
  private let state: Mutex<State>
  /// Largest number of chunks to start; nil: all wanted chunks.
  private let limit: Int?
  private let watch = Stopwatch()

  init(
    _ folder: WorkFolder, _ plan: ChunkPlan, _ resources: Resources, _ work: Work, _ wanted: Range<Int>, _ limit: Int?
  ) {
    self.folder = folder
    self.plan = plan
    self.wanted = wanted.clamped(to: 0..<plan.chunks.count)
    self.limit = limit
    owner = work
    maker = ChunkMaker(folder, plan, resources, work)
    state = Mutex(State(states: ChunkStates(plan), left: limit ?? .max))
    let frames = limit == nil ? self.wanted.reduce(0) { $0 + plan.chunks[$1].frames } : 0
    state.withLock { $0.total = frames }
  }

  var made: ChunkedReversal.RunOutcome { state.withLock { $0.made } }

  /// Makes chunks one after another, until no chunk is left to start. Called on each of several
  /// threads.
  func work() throws {
    while let (chunk, held) = try next() {
      defer { withExtendedLifetime(held) {} }
      do {
        try make(chunk)
      } catch let error where !(error is CancellationError) {
        try check()
        // Retry once, since the cause may be a temporary lack of memory or threads.
        do {
          try make(chunk)
        } catch let error where !(error is CancellationError) {
          try check()
          var event = Journal.Event(.failed, chunk)
          event.reason = (error as? RetrogradeError)?.description ?? String(describing: error)
          try folder.note(event)
          state.withLock {
            $0.made.failed.append((chunk, error))
            $0.given.insert(chunk)
          }
        }
      }
    }
  }

  /// - Throws: `CancellationError` if the work was cancelled, or ``RetrogradeError`` if the work
  ///   folder is gone.
  private func check() throws {
    try owner.cancellation.check()
    try folder.checkIsThere()
  }

  /// Finds a wanted chunk that is neither finished nor being made, and takes the chunk's lock.
  /// - Returns: nil if no such chunk is left, or the limit is reached.
  private func next() throws -> (Int, FileLocks.Held)? {
    try owner.cancellation.check()
    return try state.withLock { state in
      guard state.left > 0 else { return nil }
      try state.states.update(from: folder.journal)
      for chunk in wanted where state.states.done[chunk] == nil && !state.given.contains(chunk) {
        guard let held = try folder.locks.take(chunk) else { continue }
        // Read the journal again: before the lock was taken, another process may have finished this
        // chunk, or may have finished all the work and removed the folder.
        try state.states.update(from: folder.journal)
        try folder.checkIsThere()
        if state.states.done[chunk] != nil { continue }
        state.left -= 1
        if limit == nil { count(&state) } else { state.total += plan.chunks[chunk].frames }
        return (chunk, held)
      }
      return nil
    }
  }

  /// Counts finished frames, including frames that other processes made.
  private func count(_ state: inout State) {
    state.done = wanted.reduce(0) { $0 + (state.states.done[$1] == nil ? 0 : plan.chunks[$1].frames) }
  }

  private func make(_ chunk: Int) throws {
    try folder.note(Journal.Event(.begun, chunk))
    defer { state.withLock { _ = $0.underWay.removeValue(forKey: chunk) } }
    let event = try maker.make(chunk) { frames in
      self.state.withLock { $0.underWay[chunk] = frames }
      if frames % 8 == 0 { self.report() }
    }
    try folder.note(event)
    state.withLock {
      $0.made.chunks.append(chunk)
      $0.states.add(event)
      $0.underWay[chunk] = nil
      if limit == nil { count(&$0) } else { $0.done += plan.chunks[chunk].frames }
    }
    report()
  }

  private func report() {
    let (done, total) = state.withLock { state in
      state.shown = max(state.shown, state.done + state.underWay.values.reduce(0, +))
      return (state.shown, state.total)
    }
    let length = plan.legs.duration ?? .zero
    // Audio chunks have no frames, so progress is unknown if all chunks are audio.
    owner.report(
      .reversing, share: total > 0 ? nil : 0, done: done, of: total,
      position: .seconds(length.seconds * Double(done) / Double(max(total, 1))), duration: length, since: watch)
  }
}
