import ArgumentParser
import Glibc
import Paths
import Retrograde
import RetrogradeEngine
import RetrogradeServer

/// Options of the server.
struct ServerArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Port to listen on, 0 to 65535; 0 chooses a free one.", valueName: "number"))
  var port = 8080

  @Option(
    help: ArgumentHelp(
      "Address to listen on; 0.0.0.0 and :: mean all addresses of this machine.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(
    help: ArgumentHelp(
      "Secret of 8 to 200 bytes that browsers and players must send. The printed URL contains it.",
      valueName: "secret"))
  var token: String?

  @Option(
    help: ArgumentHelp(
      "Heights in pixels that players can choose from, such as 1080,540: up to 8, each 64 to 4320. "
        + "(default: the source's height, at most 1080)", valueName: "list"))
  var heights: Heights = Heights(list: [])

  @Option(
    help: ArgumentHelp(
      "Limit for finished segments, which are kept in a temporary file. Above it, the least recently requested ones "
        + "are removed; they are made again on request.", valueName: "size"))
  var cache = ByteCount(1 << 30)

  @Option(
    help: ArgumentHelp(
      "Number of segments to make at the same time, 1 to 64. (default: the number of cores, at most 4)", valueName: "n")
  )
  var jobs: Int?

  @Flag(help: "Print only the URL, warnings and errors.")
  var quiet = false
}

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Streams files backwards to a browser or player, without writing files first.",
    discussion: """
      The command prints the URL of a web page that plays the video backwards, and can seek to any position. The video \
      is reversed on request, in segments of a few seconds, which are kept for later requests. For a folder, the page \
      lists the files in it, with thumbnails. The command does not open a browser. Ctrl-C ends the server.

      Other players need the URL of an HLS playlist. For a single file, add master.m3u8 to the path of the printed \
      URL. For several files, add it to the path of a file's page.

      Only programs on this machine can connect, unless --host sets another address. In that case, set a secret with \
      --token, which browsers and players must send.

      EXAMPLES
        retrograde serve film.mkv
        retrograde serve films/ --port 8080 --loop ping-pong
        retrograde serve film.mkv --heights 1080,540 --cache 4GiB
        retrograde serve films/ --host 0.0.0.0 --token "$(openssl rand -hex 16)"
      """)

  @Argument(
    help: ArgumentHelp(
      "Video or audio files, or folders of them. No other files are served.", valueName: "file"),
    completion: .file())
  var files: [String]

  @OptionGroup(title: "What to play") var order: LoopArguments

  @OptionGroup(title: "What to play") var range: RangeArguments

  @OptionGroup(title: "What to play") var parts: ScorePartArguments

  @OptionGroup(title: "Sound") var audio: ScoreAudioArguments

  @OptionGroup(title: "Server") var listening: ServerArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  private var loop: Loop { order.loop }
  private var host: String { listening.host }
  private var port: Int { listening.port }
  private var token: String? { listening.token }
  private var heights: Heights { listening.heights }
  private var cache: ByteCount { listening.cache }
  private var jobs: Int? { listening.jobs }
  private var quiet: Bool { listening.quiet }

  func validate() throws {
    if files.isEmpty { throw ValidationError("No files are given. Give media files, or a folder of them.") }
    guard (0...65535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
    if let jobs, !(1...64).contains(jobs) { throw ValidationError("--jobs must be 1 to 64.") }
    if let token, !(8...200).contains(token.utf8.count) {
      throw ValidationError("--token must have 8 to 200 bytes, since a shorter one is easily guessed.")
    }
    guard [range.start, range.end].allSatisfy({ $0.map { $0.time != nil } ?? true }) else {
      throw ValidationError(
        "serve accepts only times for --start and --end, such as 1:02.5. --score accepts other positions too.")
    }
    if parts.score != nil, range.start != nil || range.end != nil || loop != .reverse {
      throw ValidationError("--score can't be used with --loop, --start or --end: it sets the whole order of play.")
    }
    if let start = range.start?.time, let end = range.end?.time, start >= end {
      throw ValidationError("--end must be later than --start.")
    }
  }

  func run() async throws {
    var playback = PlaybackOptions(loop: loop, score: parts.score, start: range.start, end: range.end)
    audio.apply(to: &playback)
    let settings = ServerSettings(
      host: host, port: port, token: token, playback: playback, heights: heights.list, resources: machine.resources,
      cache: cache, jobs: jobs ?? min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 4))
    let names = files
    let cancellation = Cancellation()
    let catalog = try await onOwnThread("look", cancellation) { try Catalog(names) }
    let limits = ChildLimits(
      silence: ChildLimits.usualSilence,
      memory: ChildLimits.memory(budget: machine.memory, sharedBy: settings.jobs))
    let server = try Server(
      settings, catalog, Child.runner(limits),
      onLine: { path, line in
        // `path` may be a link in /proc to an open file. Print the file's real path instead.
        Terminal.error("retrograde: \(realPath(path) ?? path): \(line)")
      },
      onCrash: { Terminal.error("retrograde: \($0.message.inOptions)") })
    if !settings.isLoopback, token == nil {
      Terminal.error(
        "retrograde: warning: anyone who can connect to \(host) can watch these files and use this machine's "
          + "processors; set a secret with --token"
      )
    }
    let isQuiet = quiet
    try await Interruption.handled(by: { server.stop() }) {
      try await server.run { address in
        Terminal.print(address)
        try? Terminal.finishOutput()
        if !isQuiet { Terminal.error("retrograde: Ctrl-C ends the server") }
      }
    }
  }
}

/// Heights of the video renditions, in pixels.
struct Heights: ExpressibleByArgument, CustomStringConvertible {
  var list: [Int]

  init(list: [Int]) { self.list = list }

  init?(argument: String) {
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    list = parts.compactMap { Int($0) }
    guard list.count == parts.count, list.count <= 8, list.allSatisfy({ (64...4320).contains($0) }),
      Set(list).count == list.count
    else { return nil }
  }

  var description: String { list.map(String.init).joined(separator: ",") }
  var defaultValueDescription: String { description }
}
