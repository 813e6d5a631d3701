import Glibc
import Retrograde
import RetrogradeEngine

// Commands that reverse several files.
extension Reverse {
  /// Reverses each input into `folder`.
  func runAll(_ inputs: [String], into folder: String) async throws {
    let memory = arguments.source.machine.memory
    let folders = OutputFolders()
    defer { folders.clear() }
    var batch = try Batch(
      inputs, into: folder, named: files.name, isDeep: files.recursive, folders, arguments.reverser)
    try batch.check()
    let count = min(jobs ?? BatchRun.usualJobs(memory), batch.jobs.count)
    batch.share(by: count)
    let display = BatchDisplay(arguments.output.reporting.display, memory, batch.jobs)
    let (coming, line) = AsyncStream.makeStream(of: MirrorJob.self)
    for job in batch.jobs { line.yield(job) }
    line.finish()
    try await BatchRun(display: display, jobs: count, limits: limits(count), record: WatchRecord(in: folder)).run(
      coming)
  }

  /// Watches `folder` until a signal arrives, and reverses each new file. The outputs go to
  /// `target`.
  func watch(_ folder: String, into target: String) async throws {
    let memory = arguments.source.machine.memory
    let folders = OutputFolders()
    defer { folders.clear() }
    try folders.make(target)
    guard try !MediaFolder.isSame(folder, target) else {
      throw RetrogradeError(
        .usage, about: folder, "outputs in the watched folder would be reversed again",
        remedy: "use another folder for --into")
    }
    let count = jobs ?? BatchRun.usualJobs(memory)
    let watched = try WatchedFolder(folder, into: target) { [files, arguments] path, number in
      let reverser = arguments.reverser(path).sharing(by: count)
      let name = files.name.name(of: path, format: reverser.options.encoding.format)
      return MirrorJob(number: number, reverser: reverser, output: "\(target)/\(name)")
    }
    let display = BatchDisplay(arguments.output.reporting.display, memory, nil)
    try await watched.watching {
      display.report(watching: folder)
      try await BatchRun(display: display, jobs: count, limits: limits(count), record: watched.record)
        .run(watched.coming, ended: watched.end)
    }
  }

  /// Returns the limits of each child process if `count` of them run at once.
  private func limits(_ count: Int) -> ChildLimits {
    ChildLimits(
      silence: files.stallLimit.map { .milliseconds(Int($0 * 1000)) } ?? ChildLimits.usualSilence,
      memory: ChildLimits.memory(budget: arguments.source.machine.memory, sharedBy: count))
  }
}
