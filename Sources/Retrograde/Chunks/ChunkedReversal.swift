import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine
import Synchronization

/// The work in a folder: planning, making chunks, joining them. What the commands `split`, `chunk`, `join`, `status` and `reverse --work`
/// do.
struct ChunkedReversal: Sendable {
  let folder: WorkFolder
  let work: Work

  init(_ folder: String, _ work: Work) {
    self.folder = WorkFolder(folder)
    self.work = work
  }

  // MARK: planning

  /// Plans how `reverser`'s source is turned round into `output`, unless that is planned already.
  ///
  /// - Throws: ``RetrogradeError``; of code `usage` where another plan is in the folder.
  func plan(_ reverser: Reverser, to output: String, _ length: ChunkLength) throws -> ChunkPlan {
    let output = try ChunkPlan.absolute(output)
    try folder.check()
    if let known = try folder.plan() {
      try known.check(reverser, output, in: folder.path)
      return known
    }
    guard Source.canBeReadAgain(reverser.input), !ImageSequence.isPattern(reverser.input) else {
      throw RetrogradeError(
        .usage, about: reverser.input, "can't be read again by who makes the chunks", remedy: "name a file")
    }
    let identity = try ChunkPlan.SourceIdentity(reverser.input)
    // That it can be made is known before anything is done for it.
    let probe = Outputs(overwrites: reverser.options.output.overwrites, inputs: [reverser.input])
    defer { probe.clear() }
    try probe.begin(output)
    let made = try reverser.outputPlan(output, work)
    try (made.source.warnings + made.choice.warnings).check(isStrict: reverser.options.output.isStrict, reverser.input)
    let plan = try made.chunks(of: reverser.input, identity, length, work)
    try folder.begin(plan, made.videos.map(\.video))
    // Two may have begun at once: what is there is the plan.
    return try folder.knownPlan()
  }

  // MARK: chunks

  /// How a run over several chunks went.
  struct Made: Sendable {
    var chunks: [Int] = []
    /// Those that could not be made, and why.
    var failed: [(chunk: Int, error: any Error)] = []

    /// - Returns: the chunks that were made.
    /// - Throws: what the first one failed with.
    func allMade() throws -> [Int] {
      if let first = failed.first { throw first.error }
      return chunks
    }
  }

  /// Makes chunks, several at once, until none is left of those that are wanted and nobody else makes.
  ///
  /// - Parameters:
  ///   - wanted: which; nil: all.
  ///   - limit: how many at the most; nil: all.
  /// - Throws: ``RetrogradeError`` where the source or the program is not the plan's; what a chunk throws is noted.
  func make(_ plan: ChunkPlan, _ resources: Resources, jobs: Int, only wanted: Range<Int>? = nil, limit: Int? = nil)
    throws
    -> Made
  {
    try plan.checkSource()
    let run = ChunkRun(folder, plan, resources.shared(by: jobs), work, wanted ?? 0..<plan.chunks.count, limit)
    let workers = try (0..<jobs).map { number in
      try Worker("chunk \(number)") { try run.work() }
    }
    let results = workers.map { worker in Result { try worker.join() } }
    try work.cancellation.check()
    for result in results { try result.get() }
    return run.made
  }

  // MARK: joining

  /// Makes the output of the chunks, if all are there.
  ///
  /// - Returns: nil where chunks had been lost, which is noted.
  /// - Throws: ``RetrogradeError`` of code `usage` where some are still to be made.
  func join(_ plan: ChunkPlan) throws -> (counts: Feed.Counts, warnings: [Warning])? {
    var states = ChunkStates(count: plan.chunks.count)
    try states.update(from: folder.journal)
    let made = states.done.compactMap { $0 }
    guard made.count == plan.chunks.count else {
      let left = states.done.indices.filter { states.done[$0] == nil }
      throw RetrogradeError(
        .usage, about: folder.path,
        "\(left.count) of \(plan.chunks.count) chunks are still to be made: \(ranges(left))",
        remedy: "`retrograde chunk \(folder.path)` makes them")
    }
    let join = ChunkJoin(folder, plan, made, work)
    let lost = try join.lost()
    for chunk in lost { try folder.note(Journal.Event(.lost, chunk)) }
    return lost.isEmpty ? try join.run() : nil
  }

  /// Makes the output, and removes the folder.
  func joinAll() throws -> Summary {
    let plan = try folder.knownPlan()
    try plan.checkSource()
    let held = try folder.locks.wait(for: WorkFolder.Lock.join, work.cancellation)
    defer { withExtendedLifetime(held) {} }
    guard let joined = try join(plan) else {
      throw RetrogradeError(
        .damagedInput, about: folder.path, "chunks are gone, or not what they were",
        remedy: "`retrograde chunk \(folder.path)` makes them anew; `retrograde status` says which")
    }
    try folder.remove()
    return finished(plan, joined)
  }

  /// Numbers in few words: `3, 7-9`.
  private func ranges(_ numbers: [Int]) -> String {
    var spans: [ClosedRange<Int>] = []
    for number in numbers {
      if let last = spans.last, last.upperBound + 1 == number {
        spans[spans.count - 1] = last.lowerBound...number
      } else {
        spans.append(number...number)
      }
    }
    let words = spans.prefix(8).map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    return words.joined(separator: ", ") + (spans.count > 8 ? " …" : "")
  }

  // MARK: all of it

  /// Plans, makes and joins; goes on where an earlier run was ended. Several may do so at once: they share the work.
  func run(_ reverser: Reverser, to output: String, _ length: ChunkLength, jobs: Int?) throws -> Summary {
    let plan = try plan(reverser, to: output, length)
    let jobs = jobs ?? plan.usualJobs
    while true {
      let made = try make(plan, reverser.options.resources, jobs: jobs)
      if let failed = made.failed.first {
        let names = made.failed.map { ChunkPlan.name($0.chunk) }.joined(separator: ", ")
        let known = failed.error as? RetrogradeError
        throw RetrogradeError(
          known?.code ?? .internalFailure, about: output,
          "\(made.failed.count) of \(plan.chunks.count) chunks could not be made (\(names)): \(known?.message ?? "\(String(describing: failed.error))")",
          remedy: "the others wait in \(folder.path): the same command makes what is missing")
      }
      // Whoever else is at work here may have some chunks still, or join them already.
      guard try othersAreDone(plan) else { return finished(plan, nil) }
      let held = try folder.locks.wait(for: WorkFolder.Lock.join, work.cancellation)
      defer { withExtendedLifetime(held) {} }
      guard try folder.plan() != nil else { return finished(plan, nil) }
      guard let joined = try join(plan) else { continue }
      try folder.remove()
      return finished(plan, joined)
    }
  }

  /// Waits until nobody else makes a chunk.
  /// - Returns: false where the folder is gone: the output is whole.
  private func othersAreDone(_ plan: ChunkPlan) throws -> Bool {
    try isAnyLeftByOthers(plan, 0..<plan.chunks.count) || access(folder.path, F_OK) == 0
  }

  /// Waits until nobody else makes one of `wanted`.
  /// - Returns: whether one of them was not done before, and the folder is there: somebody may have died.
  func isAnyLeftByOthers(_ plan: ChunkPlan, _ wanted: Range<Int>) throws -> Bool {
    var states = ChunkStates(count: plan.chunks.count)
    try states.update(from: folder.journal)
    let left = wanted.filter { states.done[$0] == nil }
    for chunk in left {
      guard access(folder.path, F_OK) == 0 else { return false }
      _ = try folder.locks.wait(for: chunk, work.cancellation)
    }
    return !left.isEmpty && access(folder.path, F_OK) == 0
  }

  private func finished(_ plan: ChunkPlan, _ joined: (counts: Feed.Counts, warnings: [Warning])?) -> Summary {
    Summary(
      output: plan.output, frames: joined?.counts.frames ?? plan.videos.first?.frames ?? 0,
      samples: joined?.counts.samples ?? [], duration: plan.legs.duration ?? .zero, elapsed: work.elapsed,
      peakMemory: work.gauge.peak, plan: nil, warnings: joined?.warnings ?? plan.warnings.map(\.warning))
  }
}

/// Chunks on their way, and the threads that make them.
private final class ChunkRun: Sendable {
  private struct State {
    var states: ChunkStates
    var made = ChunkedReversal.Made()
    /// Chunks that were tried, and failed.
    var given: Set<Int> = []
    /// How many may still be begun.
    var left: Int
    /// Frames of each chunk that is being made.
    var underWay: [Int: Int] = [:]
  }
  private let folder: WorkFolder
  private let plan: ChunkPlan
  private let maker: ChunkMaker
  private let owner: Work
  private let wanted: Range<Int>
  private let state: Mutex<State>
  private let watch = Stopwatch()

  init(
    _ folder: WorkFolder, _ plan: ChunkPlan, _ resources: Resources, _ work: Work, _ wanted: Range<Int>, _ limit: Int?
  ) {
    self.folder = folder
    self.plan = plan
    self.wanted = wanted.clamped(to: 0..<plan.chunks.count)
    owner = work
    maker = ChunkMaker(folder, plan, resources, work)
    state = Mutex(State(states: ChunkStates(count: plan.chunks.count), left: limit ?? .max))
  }

  var made: ChunkedReversal.Made { state.withLock { $0.made } }

  /// Makes one chunk after the other, until none is left.
  func work() throws {
    while let (chunk, held) = try next() {
      defer { withExtendedLifetime(held) {} }
      do {
        try make(chunk)
      } catch let error where !(error is CancellationError) {
        try owner.cancellation.check()
        // Once more: a machine may have run out of something for a moment.
        do {
          try make(chunk)
        } catch let error where !(error is CancellationError) {
          try owner.cancellation.check()
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

  /// A chunk that is wanted, not done, and nobody's, and the lock that makes it ours.
  private func next() throws -> (Int, FileLocks.Held)? {
    try owner.cancellation.check()
    return try state.withLock { state in
      guard state.left > 0 else { return nil }
      try state.states.update(from: folder.journal)
      for chunk in wanted where state.states.done[chunk] == nil && !state.given.contains(chunk) {
        guard let held = try folder.locks.take(chunk) else { continue }
        // Somebody may have finished it just now.
        try state.states.update(from: folder.journal)
        if state.states.done[chunk] != nil { continue }
        state.left -= 1
        return (chunk, held)
      }
      return nil
    }
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
    }
    report()
  }

  private func report() {
    let done = state.withLock { state in
      state.states.done.indices.reduce(0) { $0 + (state.states.done[$1] == nil ? 0 : plan.chunks[$1].frames) }
        + state.underWay.values.reduce(0, +)
    }
    let total = plan.frameCount
    let length = plan.legs.duration ?? .zero
    owner.report(
      .reversing, done: done, of: total, position: .seconds(length.seconds * Double(done) / Double(max(total, 1))),
      duration: length, since: watch)
  }
}
