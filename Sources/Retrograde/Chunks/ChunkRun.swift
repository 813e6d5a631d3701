import MediaTime
import RetrogradeEngine
import Synchronization

/// Chunks on their way, and the threads that make them.
final class ChunkRun: Sendable {
  private struct State {
    var states: ChunkStates
    var made = ChunkedReversal.Made()
    /// Chunks that were tried, and failed.
    var given: Set<Int> = []
    /// How many may still be begun.
    var left: Int
    /// Frames of the chunks that count, and of those of them that are done. Where only some are to be begun, those count that are.
    var total = 0
    var done = 0
    /// Frames of each chunk that is being made.
    var underWay: [Int: Int] = [:]
    /// The most frames that were ever there: one that is begun again does not take any back.
    var shown = 0
  }
  private let folder: WorkFolder
  private let plan: ChunkPlan
  private let maker: ChunkMaker
  private let owner: Work
  private let wanted: Range<Int>
  private let state: Mutex<State>
  /// How many chunks may be begun; nil: all that are wanted.
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

  var made: ChunkedReversal.Made { state.withLock { $0.made } }

  /// Makes one chunk after the other, until none is left.
  func work() throws {
    while let (chunk, held) = try next() {
      defer { withExtendedLifetime(held) {} }
      do {
        try make(chunk)
      } catch let error where !(error is CancellationError) {
        try check()
        // Once more: a machine may have run out of something for a moment.
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

  /// - Throws: where there is no use in going on.
  private func check() throws {
    try owner.cancellation.check()
    try folder.checkIsThere()
  }

  /// A chunk that is wanted, not done, and not being made, and the lock by which this run makes it.
  private func next() throws -> (Int, FileLocks.Held)? {
    try owner.cancellation.check()
    return try state.withLock { state in
      guard state.left > 0 else { return nil }
      try state.states.update(from: folder.journal)
      for chunk in wanted where state.states.done[chunk] == nil && !state.given.contains(chunk) {
        guard let held = try folder.locks.take(chunk) else { continue }
        // Another process may have finished it just now, or everything, and removed the journal.
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

  /// Chunks that others have made count too.
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
    // Chunks of audio have no frames: where there are no others, nothing tells how far they are.
    owner.report(
      .reversing, share: total > 0 ? nil : 0, done: done, of: total,
      position: .seconds(length.seconds * Double(done) / Double(max(total, 1))), duration: length, since: watch)
  }
}
