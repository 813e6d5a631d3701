import ArgumentParser
import Retrograde

/// The folder that commands on chunks work in.
struct ChunkFolderArguments: ParsableArguments {
  @Argument(help: "The folder that `retrograde split`, or `reverse --work`, made.", completion: .directory)
  var folder: String
}

struct Split: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plan how a mirror is made in chunks, by any number of processes and machines.",
    discussion: """
      The plan is written into the folder that --work names, and nothing else is done. `retrograde chunk` makes the chunks, \
      `retrograde join` the file of them.

      EXAMPLES
        retrograde split film.mkv out.mkv --work film.work --chunks 12
        retrograde chunk film.work 0-5
        retrograde chunk film.work 6-12
        retrograde join film.work
      """)

  @OptionGroup var files: InputOutputArguments

  @OptionGroup var arguments: ReverseArguments

  @Option(help: ArgumentHelp("The folder for the plan and the chunks.", valueName: "folder"), completion: .directory)
  var work: String

  @OptionGroup var length: ChunkLengthArguments

  @Flag(help: "Print the chunks as JSON.")
  var json = false

  func run() async throws {
    let display = arguments.output.reporting.display
    let reverser = arguments.reverser(files.from.input)
    let status = try await reverser.split(to: files.into.output, in: work, chunks: length.length) { display.show($0) }
    display.clear()
    if json { return try Terminal.print(json: status) }
    Status.show(status)
  }
}

struct Chunk: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make chunks of a plan.",
    discussion: """
      A chunk depends on nothing but the plan and the source. Any number of these commands may run at once, on any machines that see \
      the folder and the source by the same names: no chunk is made twice. One that died leaves nothing behind. Chunks that are named are \
      there when the command ends with status 0: it waits for those that another one is making.

      EXAMPLES
        retrograde chunk film.work            # the next one that nobody has
        retrograde chunk film.work 7
        retrograde chunk film.work 0-11 --jobs 2
      """)

  @OptionGroup var folder: ChunkFolderArguments

  @Argument(help: "A chunk, or several, as in 3-7; without it, the next one that nobody has.")
  var chunks: ChunkNumbers?

  @Option(help: ArgumentHelp("Make so many at once.", valueName: "n"))
  var jobs = 1

  @OptionGroup var machine: ResourceArguments

  @OptionGroup var reporting: DisplayArguments

  func validate() throws {
    guard (1...1024).contains(jobs) else { throw ValidationError("--jobs must be 1 to 1024.") }
  }

  func run() async throws {
    let display = reporting.display
    let work = Task {
      try await ChunkFolder(folder.folder).make(chunks?.range, resources: machine.resources, jobs: jobs) {
        display.show($0)
      }
    }
    let made = try await Interruption.handled(by: { work.cancel() }) { try await work.value }
    display.clear()
    guard !reporting.quiet else { return }
    Terminal.error(
      made.isEmpty
        ? "\(folder.folder): nothing was left to make"
        : "\(folder.folder): made chunk\(made.count == 1 ? "" : "s") \(made.sorted().map(String.init).joined(separator: ", "))"
    )
  }
}

/// Numbers of chunks: `7` or `3-7`.
struct ChunkNumbers: ExpressibleByArgument {
  var range: ClosedRange<Int>

  init?(argument: String) {
    let parts = argument.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
    guard (1...2).contains(parts.count), let first = parts[0], let last = parts[parts.count - 1], first >= 0,
      first <= last
    else { return nil }
    range = first...last
  }
}

struct Join: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Make the file of the chunks of a plan, and remove their folder.",
    discussion: "Nothing is encoded. Every chunk is compared with what was noted of it first.")

  @OptionGroup var folder: ChunkFolderArguments

  @OptionGroup var machine: ResourceArguments

  @OptionGroup var reporting: DisplayArguments

  func run() async throws {
    try await reporting.display.follow(
      ChunkFolder(folder.folder).join(resources: machine.resources), machine.memory)
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Tell which chunks of a plan are done, running, failed and still to come.")

  @OptionGroup var folder: ChunkFolderArguments

  @Flag(help: "As JSON, with every chunk.")
  var json = false

  func run() async throws {
    let status = try await ChunkFolder(folder.folder).status()
    if json { return try Terminal.print(json: status) }
    Status.show(status)
  }

  static func show(_ status: ChunkStatus) {
    Terminal.print("source     \(status.source)")
    Terminal.print("output     \(status.output)")
    func count(_ state: ChunkStatus.Chunk.State) -> Int { status.chunks.count { $0.state == state } }
    Terminal.print(
      "chunks     \(status.chunks.count): \(count(.done)) done, \(count(.running)) running, \(count(.failed)) failed, "
        + "\(count(.waiting)) to come")
    if let remaining = status.remaining, count(.done) < status.chunks.count {
      Terminal.print("time left  about \(ClockTime.seconds(remaining.rounded(.up)))")
    }
    // Of thousands of chunks only the exceptions are listed.
    let isLong = status.chunks.count > 100
    for chunk in status.chunks where !isLong || [.running, .failed].contains(chunk.state) {
      Terminal.print("  " + line(chunk))
    }
  }

  private static func line(_ chunk: ChunkStatus.Chunk) -> String {
    let span = "\(ClockTime.seconds(chunk.start)) to \(ClockTime.seconds(chunk.end))"
    let what = chunk.kind == .audio ? "audio" : "\(chunk.frames) frames"
    let place = chunk.host.map { " on \($0), process \(chunk.process ?? 0)" } ?? ""
    let state =
      switch chunk.state {
      case .waiting: "to come"
      case .running: "running\(place)"
      case .done:
        "done" + (chunk.seconds.map { " in \($0.rounded(to: 1)) s" } ?? "")
          + (chunk.bytes.map { ", \(ByteCount($0))" } ?? "")
      case .failed: "failed\(place): \(chunk.reason ?? "")"
      }
    return "\(String(chunk.number).padded(to: 6))\(span), \(what): \(state)"
  }
}
