import ArgumentParser
import GStreamer
import Retrograde
import RetrogradeEngine

struct Submit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plans a reversal in chunks, and submits it to a Slurm cluster.",
    discussion: """
      The command submits two jobs with sbatch: an array of tasks that run `retrograde work chunk`, and a job that \
      runs `retrograde work join` when all tasks have succeeded. Slurm decides when and where they run, and restarts a \
      task on another machine if its machine fails. The source, the work folder and the output must have the same \
      paths on all machines; see docs/cluster.md.

      If a chunk fails, run the same command again: it submits the missing chunks.

      EXAMPLES
        retrograde work submit film.mkv out.mkv --work film.work
        retrograde work submit film.mkv out.mkv --work w --slurm '--partition=long'
      """)

  @OptionGroup var files: ChunkedFileArguments

  @OptionGroup var arguments: ReverseArguments

  @Option(help: ArgumentHelp("Folder for the plan and the chunks.", valueName: "folder"), completion: .directory)
  var work: String

  @OptionGroup(title: "Machine") var length: ChunkLengthArguments

  @Option(
    parsing: .remaining,
    help: ArgumentHelp(
      "Options for sbatch: all arguments after this one. A single argument is split into words, as in a shell. "
        + "This option is not needed to use Slurm: jobs always go to Slurm.",
      valueName: "sbatch options"))
  var slurm: [String] = []

  func validate() throws { _ = try sbatchOptions() }

  private func sbatchOptions() throws -> [String] {
    guard slurm.count == 1, let all = slurm.first else { return slurm }
    guard let words = Shell.words(all) else {
      throw ValidationError("--slurm: a closing quote is missing in \(all)")
    }
    return words
  }

  func run() async throws {
    let display = arguments.output.reporting.display
    let reverser = arguments.reverser(files.input)
    let status = try await reverser.split(to: files.output, in: work, chunks: length.length) { display.show($0) }
    display.clear()
    let jobs = try jobs(for: status)
    try jobs.writeScripts()
    let array = jobs.wanted.isEmpty ? nil : try submit(jobs.chunkCommand, "the chunks", jobs)
    let join = try submit(jobs.joinCommand(after: array), "the job that joins the chunks", jobs, array)
    show(jobs, array, join)
  }

  private func jobs(for status: ChunkStatus) throws -> SlurmJobs {
    let resources = arguments.source.machine
    let spool = try resources.spoolDir.map { ["--spool-dir", try absolutePath($0)] } ?? []
    return SlurmJobs(
      program: DataFolders.executable ?? "retrograde",
      folder: try absolutePath(work), chunkCount: status.chunks.count,
      wanted: status.chunks.filter { $0.state != .done }.map(\.number),
      tasksAtMost: Submit.tasksAtMost(),
      chunkOptions: ["--memory", "\(resources.memory.bytes)"] + spool, options: try sbatchOptions())
  }

  /// Returns the maximum number of tasks in a Slurm array: `MaxArraySize`, since task numbers start
  /// at 0 and must be smaller than this setting. If the setting is unknown, Slurm's default
  /// applies.
  private static func tasksAtMost() -> Int {
    let known = Shell.run(["scontrol", "show", "config"])
      .flatMap { $0.output.firstMatch(of: /MaxArraySize\s*=\s*([0-9]+)/) }.flatMap { Int($0.output.1) }
    return max(1, known ?? 1001)
  }

  /// Submits a job.
  /// - Parameter array: ID of the array job that this job depends on.
  /// - Returns: the job's ID.
  private func submit(_ command: [String], _ what: String, _ jobs: SlurmJobs, _ array: String? = nil) throws -> String {
    let ending = Shell.run(command)
    // sbatch prints `NUMBER` or `NUMBER;CLUSTER`.
    if let ending, ending.status == 0,
      let job = ending.output.split(whereSeparator: \.isNewline).last?.prefix(while: \.isNumber), !job.isEmpty
    {
      return String(job)
    }
    let reason =
      ending.map {
        "sbatch ended with status \($0.status): \(($0.errors + $0.output).trimmed(or: "no error message"))"
      } ?? "sbatch is not in PATH"
    let remedy =
      array.map {
        "job \($0) is still making the chunks: run `retrograde work join \(Shell.quoted(jobs.folder))` when that job "
          + "has ended, or `scancel \($0)` to stop the job"
      }
      ?? "the plan is in \(jobs.folder): run the same command on a machine with sbatch, or make the chunks "
      + "with `retrograde work chunk \(Shell.quoted(jobs.folder))`"
    Terminal.error(lines: "retrograde: \(what) of \(jobs.folder) can't be submitted to Slurm: \(reason); \(remedy)")
    // EX_UNAVAILABLE if sbatch cannot be run, otherwise EX_SOFTWARE.
    throw ExitCode(ending == nil ? 69 : 70)
  }

  private func show(_ jobs: SlurmJobs, _ array: String?, _ join: String) {
    if let array {
      let each = jobs.run == 1 ? "one chunk each" : "up to \(jobs.run) chunks each"
      Terminal.print("chunks     job \(array): \(counted(jobs.tasks.count, "task")), \(each)")
      Terminal.print("join       job \(join), when all tasks have succeeded")
    } else {
      Terminal.print("join       job \(join): all chunks are finished")
    }
    Terminal.print("queue      squeue --jobs=\([array, join].compactMap { $0 }.joined(separator: ","))")
    Terminal.print("progress   retrograde work status \(Shell.quoted(jobs.folder))")
    if let array {
      Terminal.print("logs       \(jobs.taskOutput(array: array, task: "*"))")
    }
    Terminal.print("           \(jobs.joinOutput(job: join))")
  }
}

extension String {
  /// Returns the text without leading and trailing white space; `fallback` if the trimmed text is
  /// empty.
  fileprivate func trimmed(or fallback: String) -> String {
    let text = trimmingPrefix(while: \.isWhitespace)
    let end = text.lastIndex { !$0.isWhitespace }
    return end.map { String(text[...$0]) } ?? fallback
  }
}
