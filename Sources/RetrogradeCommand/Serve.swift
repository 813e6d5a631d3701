import ArgumentParser
import Glibc
import Retrograde
import RetrogradeEngine
import RetrogradeServer

struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the mirrors of files in a browser, or a player, made while they are watched.",
    discussion: """
      Prints the address of a page on which the mirror plays, from its first frame to its last, wherever it is sought: no file is made. Each \
      piece of some seconds is decoded and encoded when it is asked for, and kept for those who ask again. Folders are listed with a picture each. \
      Nothing opens by itself; Ctrl-C ends it.

      Players get the address of a playlist (HLS): the one that is printed, and master.m3u8 after it; of several files, that of a file's page.

      Only programs of this machine can ask, unless --host names another address; then --token has a secret that they need.

      EXAMPLES
        retrograde serve film.mkv
        retrograde serve films/ --port 8080 --loop ping-pong
        retrograde serve film.mkv --heights 1080,540 --memory 256MiB --cache 4GiB
        retrograde serve films/ --host 0.0.0.0 --token "$(openssl rand -hex 16)"
      """)

  @Argument(
    help: ArgumentHelp(
      "Files of video or audio, and folders of them; nothing outside these is ever given out.", valueName: "file"),
    completion: .file())
  var files: [String]

  @Option(
    help: ArgumentHelp("The address to listen at; 0.0.0.0 and :: are all that the machine has.", valueName: "address"))
  var host = "127.0.0.1"

  @Option(help: ArgumentHelp("The port to listen at; 0: one that is free.", valueName: "number"))
  var port = 8080

  @Option(
    help: ArgumentHelp(
      "What browsers and players have to know: it is part of the address that is printed.", valueName: "secret"))
  var token: String?

  @OptionGroup var score: ScoreArguments

  @Option(help: .loop)
  var loop: Loop = .reverse

  @OptionGroup var range: RangeArguments

  @Option(
    help: ArgumentHelp(
      "The heights of the picture to choose from, in pixels: 1080,540. Without it: the source's own, and no more than 1080.",
      valueName: "list"))
  var heights: Heights = Heights(list: [])

  @OptionGroup var machine: ResourceArguments

  @Option(
    help: ArgumentHelp(
      "The most to keep of what was made, in a spool file; what was not asked for longest is made anew when it is asked for.",
      valueName: "size"))
  var cache = ByteCount(1 << 30)

  @Option(
    help: ArgumentHelp("How many pieces are made at a time (default: as many as cores, at most 4).", valueName: "n"))
  var jobs: Int?

  @Flag(help: "Say nothing but the address, warnings and errors.")
  var quiet = false

  func validate() throws {
    if files.isEmpty { throw ValidationError("Which files? Name some, or a folder of them.") }
    guard (0...65535).contains(port) else { throw ValidationError("--port must be 0 to 65535.") }
    if let jobs, !(1...64).contains(jobs) { throw ValidationError("--jobs must be 1 to 64.") }
    if let token, !(8...200).contains(token.utf8.count) {
      throw ValidationError("--token must have 8 to 200 bytes: a short one is soon guessed.")
    }
    guard [range.start, range.end].allSatisfy({ $0.map { $0.time != nil } ?? true }) else {
      throw ValidationError("--start and --end are times here, such as 1:02.5; --score takes other places too.")
    }
    if score.score != nil, range.start != nil || range.end != nil || loop != .reverse {
      throw ValidationError("--score says all of what is played: leave out --loop, --start and --end.")
    }
    if let start = range.start?.time, let end = range.end?.time, start >= end {
      throw ValidationError("--end must be later than --start.")
    }
  }

  func run() async throws {
    var playback = PlaybackOptions(loop: loop, start: range.start, end: range.end)
    score.apply(to: &playback)
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
      settings, catalog, Child.runner(limits), said: { Terminal.error("retrograde: \($0): \($1)") },
      tell: { Terminal.error("retrograde: \($0.message.inOptions)") })
    if !settings.isLoopback, token == nil {
      Terminal.error(
        "retrograde: warning: whoever reaches \(host) can watch these files, and have this machine work; --token asks for a secret"
      )
    }
    let isQuiet = quiet
    try await Interruption.handled(by: { server.stop() }) {
      try await server.run { address in
        Terminal.print(address)
        try? Terminal.finishOutput()
        if !isQuiet { Terminal.error("retrograde: Ctrl-C ends it") }
      }
    }
  }
}

/// Heights of pictures in pixels.
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
