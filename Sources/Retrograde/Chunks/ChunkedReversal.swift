import GStreamer
import Glibc
import MediaTime
import RetrogradeEngine
import Synchronization
import Paths

/// Plans an output in chunks, makes the chunks in a work folder, and joins them. Implements the
/// commands `work split`, `work chunk`, `work join`, `work status` and `reverse --work`.
struct ChunkedReversal: Sendable {
  let folder: WorkFolder
  let work: Work

  init(_ folder: String, _ work: Work) {
    self.folder = WorkFolder(folder)
    self.work = work
  }

  // MARK: planning

  /// Plans the reversal of `reverser`'s source into `output`, unless the folder already contains
  /// the same plan.
  ///
  /// - Throws: ``RetrogradeError``; of code `usage` if the folder has another plan.
  func plan(_ reverser: Reverser, to output: String, _ length: ChunkLength) throws -> ChunkPlan {
    guard output != "-" else {
      throw RetrogradeError(
        .usage, about: "standard output",
        "can't be used with \(setting: .work), since chunks may be encoded later",
        remedy: "give an output file")
    }
    let output = try absolutePath(output)
    try folder.check()
    try folder.removeLeftovers()
    if let known = try folder.plan() {
      try known.check(reverser, output, in: folder.path)
      return known
    }
    guard reverser.inputs.count == 1 else {
      throw RetrogradeError(
        .usage, about: reverser.input, "joined files can't be reversed in chunks", remedy: "leave out \(setting: .work)"
      )
    }
    guard Source.isReopenable(reverser.input), !ImageSequence.isPattern(reverser.input),
      try Address(reverser.input) == nil
    else {
      throw RetrogradeError(
        .usage, about: reverser.input,
        "can't be reversed in chunks: the source must be a file, not a pipe, a URL or numbered images",
        remedy: "give a file, or leave out \(setting: .work)")
    }
    let identity = try ChunkPlan.SourceIdentity(reverser.input)
    // Create a temporary output file now: if the output can't be created, fail before any long
    // work.
    let probe = Outputs(overwrites: reverser.options.output.overwrites, inputs: [reverser.input])
    defer { probe.clear() }
    try probe.begin(output)
    if let path = reverser.options.output.subtitles {
      try SubtitleFile.check(path)
      try probe.begin(path, isNumbered: false)
    }
    let made = try reverser.outputPlan(output, work)
    try (made.source.warnings + made.choice.warnings).check(isStrict: reverser.options.output.isStrict, reverser.input)
    let plan = try made.chunks(of: reverser.input, identity, length, work)
    try plan.checkSource(isRunning: true)
    let known = try folder.begin(plan, made.videos.map(\.video), work.cancellation)
    // Check `known`, because it may be the plan of another process that planned at the same time.
    try known.check(reverser, output, in: folder.path)
    return known
  }

  // MARK: chunks

  /// Outcome of a run over several chunks.
  struct RunOutcome: Sendable {
    var chunks: [Int] = []
    /// Chunks that failed, with the error of each chunk.
    var failed: [(chunk: Int, error: any Error)] = []

    /// - Returns: the chunks that were made.
    /// - Throws: the error of the first failed chunk.
    func allMade() throws -> [Int] {
      if let first = failed.first { throw first.error }
      return chunks
    }
  }

  /// Makes chunks, several at once, until `limit` chunks were started, or no wanted chunk is left
  /// to start: every wanted chunk is finished, has failed, or is being made by another process.
  ///
  /// - Parameters:
  ///   - wanted: chunks to make; nil: all.
  ///   - limit: largest number of chunks to start; nil: no limit.
  /// - Throws: ``RetrogradeError`` if the source or the program does not match the plan, or disk
  ///   space or threads are lacking; `CancellationError`. An error in a chunk is only recorded in
  ///   the outcome.
  func make(_ plan: ChunkPlan, _ resources: Resources, jobs: Int, only wanted: Range<Int>? = nil, limit: Int? = nil)
    throws
    -> RunOutcome
  {
    try plan.checkSource()
    try room(plan, wanted ?? 0..<plan.chunks.count).check()
    let run = ChunkRun(folder, plan, resources.shared(by: jobs), work, wanted ?? 0..<plan.chunks.count, limit)
    let workers = try (0..<jobs).map { number in
      try Worker("chunk \(number)") { try run.work() }
    }
    let results = workers.map { worker in Result { try worker.join() } }
    try work.cancellation.check()
    for result in results { try result.get() }
    return run.made
  }

  /// Runs `body`. If `body` fails because the disk is full, the error states the needed space.
  private func explainingRoom<Value>(
    _ plan: ChunkPlan, _ wanted: Range<Int>, isJoined: Bool = false, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch {
      throw (try? room(plan, wanted, isJoined: isJoined).explaining(error)) ?? error
    }
  }

  private func room(_ plan: ChunkPlan, _ wanted: Range<Int>, isJoined: Bool = false) throws -> ChunkRoom {
    var states = ChunkStates(plan)
    try states.update(from: folder.journal)
    return ChunkRoom(plan, states, in: folder.path, wanted, isJoined: isJoined)
  }

  /// Waits until no other process is making a wanted chunk.
  /// - Returns: true if a wanted chunk is still unfinished, because its process died or failed.
  func hasAbandonedChunk(_ plan: ChunkPlan, _ wanted: Range<Int>) throws -> Bool {
    var states = ChunkStates(plan)
    try states.update(from: folder.journal)
    for chunk in wanted where states.done[chunk] == nil {
      _ = try folder.locks.wait(for: chunk, work.cancellation)
    }
    try states.update(from: folder.journal)
    try folder.checkIsThere()
    return wanted.contains { states.done[$0] == nil }
  }

  // MARK: joining

  /// Result of an attempt to join.
  private enum Joining {
    case joined(Summary)
    /// Unfinished chunks.
    case missing([Int])
    /// Some chunk files are missing or were changed. The journal now lists those chunks as lost.
    case lost
  }

  /// Joins the chunks into the output, and removes the folder. Does nothing if a chunk is
  /// unfinished.
  private func join(_ plan: ChunkPlan, _ resources: Resources) throws -> Joining {
    let held = try folder.locks.wait(for: WorkFolder.Lock.join, work.cancellation)
    defer { withExtendedLifetime(held) {} }
    var states = ChunkStates(plan)
    try states.update(from: folder.journal)
    try folder.checkIsThere()
    if let output = states.joined.output, output == FileStamp(plan.output) {
      // An earlier run joined the chunks, but was interrupted before it had removed the folder.
      try folder.remove(work.cancellation)
      return .joined(summary(plan))
    }
    let missing = states.missing
    guard missing.isEmpty else { return .missing(missing) }
    try plan.checkSource()
    let join = ChunkJoin(folder, plan, states.done.compactMap { $0 }, resources, work)
    let lost = try join.lost()
    for chunk in lost { try folder.note(Journal.Event(.lost, chunk)) }
    guard lost.isEmpty else { return .lost }
    // If an earlier run was interrupted after it had renamed the subtitle file, but not the output,
    // remove the subtitle file. The stamp in the journal shows that the earlier run wrote the file.
    if let path = plan.subtitleOutput?.path, let made = states.joined.subtitles, made == FileStamp(path) {
      unlink(path.cPath)
    }
    let joined = try explainingRoom(plan, 0..<0, isJoined: true) { try join.run() }
    try folder.remove(work.cancellation)
    return .joined(summary(plan, joined))
  }

  /// Joins all chunks for `retrograde work join`.
  func joinAll(_ resources: Resources) throws -> Summary {
    let plan = try folder.knownPlan()
    work.scale.expect(
      [ExpectedStep(.joining, 1)]
        + (plan.options.output.isVerified ? .comparing(videos: plan.videos.count, audio: plan.audio.count) : []))
    return try unlessFinished(plan) {
      switch try join(plan, resources) {
      case .joined(let summary): return summary
      case .missing(let chunks):
        throw RetrogradeError(
          .usage, about: folder.path,
          "\(chunks.count) of \(plan.chunks.count) chunks \(chunks.count == 1 ? "is" : "are") not finished: "
            + "\(NumberRanges(chunks).text(separator: ", ", atMost: 8))",
          remedy: "`retrograde work chunk \(Shell.quoted(folder.path))` makes the next one")
      case .lost:
        throw RetrogradeError(
          .damagedInput, about: folder.path, "some chunk files are missing, or were changed",
          remedy: "`retrograde work status \(Shell.quoted(folder.path))` lists the chunks to make again; "
            + "`retrograde work chunk \(Shell.quoted(folder.path))` makes the next one")
      }
    } ?? summary(plan)
  }

  /// Runs `body`. If another process has finished the work meanwhile, ignores errors of `body`.
  /// - Returns: nil if the folder is gone because another process has finished.
  /// - Throws: errors of `body`, or ``RetrogradeError`` of code `noInput` if the folder was removed
  ///   before the output was finished.
  func unlessFinished<Value>(_ plan: ChunkPlan, _ body: () throws -> Value) throws -> Value? {
    do {
      return try body()
    } catch let error where !(error is CancellationError) && !folder.isThere {
      // A process that finishes the work renames the output before it removes the folder. So if the
      // work is finished, the output is newer than the plan.
      if folder.isOlder(than: plan.output) { return nil }
      throw RetrogradeError(
        .noInput, about: folder.path, "was removed before \(plan.output) was finished", remedy: "start again")
    }
  }

  // MARK: complete run

  /// Plans, makes and joins the chunks, or resumes an interrupted run. Several processes can share
  /// the work.
  func run(_ reverser: Reverser, to output: String, _ length: ChunkLength, jobs: Int?) throws -> Summary {
    let isVerified = reverser.options.output.isVerified
    work.scale.expect(
      [ExpectedStep(.indexing, 1), ExpectedStep(.reversing, 12), ExpectedStep(.joining, 0.5)]
        + (isVerified ? .comparing(videos: 1, audio: 1) : []))
    let plan = try plan(reverser, to: output, length)
    let resources = reverser.options.resources
    let jobs = jobs ?? plan.usualJobs(with: resources.memory)
    return try unlessFinished(plan) {
      try room(plan, 0..<plan.chunks.count, isJoined: true).check()
      while true {
        try makeAll(plan, resources, jobs: jobs)
        if case .joined(let summary) = try join(plan, resources) { return summary }
      }
    } ?? summary(plan)
  }

  /// Makes all chunks, including chunks that other processes leave unfinished.
  private func makeAll(_ plan: ChunkPlan, _ resources: Resources, jobs: Int) throws {
    repeat {
      let made = try make(plan, resources, jobs: jobs)
      guard let failed = made.failed.first else { continue }
      let names = made.failed.map { ChunkPlan.name($0.chunk) }.joined(separator: ", ")
      let error = try room(plan, 0..<plan.chunks.count, isJoined: true).explaining(failed.error)
      let known = error as? RetrogradeError
      throw RetrogradeError(
        known?.code ?? .internalFailure, about: plan.output,
        "\(made.failed.count) of \(plan.chunks.count) chunks failed (\(names)): "
          + "\(known?.message ?? "\(String(describing: error))")",
        remedy: "to make only the failed chunks again, run the same command; \(folder.path) contains the others")
    } while try hasAbandonedChunk(plan, 0..<plan.chunks.count)
  }

  /// - Parameter joined: result of joining; nil if another process joined the chunks.
  private func summary(_ plan: ChunkPlan, _ joined: (counts: Feed.Counts, warnings: [Warning])? = nil) -> Summary {
    Summary(
      output: plan.output, frames: joined?.counts.frames ?? plan.videos.first?.frames ?? 0,
      samples: joined?.counts.samples ?? [], duration: plan.legs.duration ?? .zero, elapsed: work.elapsed,
      peakMemory: work.gauge.peak, plan: nil, warnings: joined?.warnings ?? plan.warnings.map(\.warning),
      written: joined.map {
        WrittenMedia(container: WrittenMedia.containerName(of: plan.output), streams: $0.counts.streams)
      }, changes: plan.changes.map(\.change))
  }
}
