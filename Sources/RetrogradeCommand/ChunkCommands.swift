import ArgumentParser
import Retrograde

/// Argument for the folder of a reversal in chunks, which are parts of the output that are encoded
/// separately.
struct ChunkFolderArguments: ParsableArguments {
  @Argument(help: "Folder that `retrograde work split` or `reverse --work` created.", completion: .directory)
  var folder: String
}

struct Split: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plans a reversal in chunks, for any number of processes and machines.",
    discussion: """
      The plan is written into the folder that --work names; nothing is encoded yet. `retrograde work chunk` makes the \
      chunks, and `retrograde work join` joins them.

      Chunks are numbered from 0. Each audio stream is one chunk, and the audio comes first: in the examples, chunk 0 \
      is the audio, and chunks 1 to 12 are the video.

      EXAMPLES
        retrograde work split film.mkv out.mkv --work film.work --chunks 12
        retrograde work chunk film.work 0-5
        retrograde work chunk film.work 6-12
        retrograde work join film.work
      """)

  @OptionGroup var files: ChunkedFileArguments

  @OptionGroup var arguments: ReverseArguments

  @Option(help: ArgumentHelp("Folder for the plan and the chunks.", valueName: "folder"), completion: .directory)
  var work: String

  @OptionGroup(title: "Machine") var length: ChunkLengthArguments

  @Flag(help: "Print the chunks as JSON.")
  var json = false

  func run() async throws {
    let display = arguments.output.reporting.display
    let reverser = arguments.reverser(files.input)
    let status = try await reverser.split(to: files.output, in: work, chunks: length.length) { display.show($0) }
    display.clear()
    if json { return try Terminal.print(json: status) }
    Status.show(status)
  }
}

struct Chunk: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Makes one or more chunks of a plan.",
    discussion: """
      Any number of these commands can run at the same time, on all machines that have the folder and the source under \
      the same paths. No chunk is made twice, and a killed process leaves no incomplete chunk behind. If another \
      process is making one of the requested chunks, the command waits for it. The exit status is 0 only if all \
      requested chunks exist.

      EXAMPLES
        retrograde work chunk film.work            # the next free chunk
        retrograde work chunk film.work 7
        retrograde work chunk film.work 0-11 --jobs 2
      """)

  @OptionGroup var folder: ChunkFolderArguments

  @Argument(help: "Number of a chunk, counted from 0, or a range such as 3-7. (default: the next free chunk)")
  var chunks: ChunkNumbers?

  @Option(help: ArgumentHelp("Number of chunks to make at the same time, 1 to 1024.", valueName: "n"))
  var jobs = 1

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

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
        ? "\(folder.folder): no chunk was left to make"
        : "\(folder.folder): made chunk\(made.count == 1 ? "" : "s") \(made.sorted().map(String.init).joined(separator: ", "))"
    )
  }
}

/// Range of chunk numbers: `7` or `3-7`.
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
    abstract: "Joins the chunks of a plan into the output, and removes the folder.",
    discussion: "Nothing is encoded. First, each chunk is compared with its recorded checksum.")

  @OptionGroup var folder: ChunkFolderArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

  func run() async throws {
    try await reporting.display.follow(
      ChunkFolder(folder.folder).join(resources: machine.resources), machine.memory)
  }
}

struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lists the finished, running, failed and remaining chunks of a plan.")

  @OptionGroup var folder: ChunkFolderArguments

  @Flag(help: "Print JSON, with every chunk.")
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
    // If there are many chunks, list only running and failed ones.
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
