import ArgumentParser
import Retrograde

/// What every command that reads a source takes.
struct SourceArguments: ParsableArguments {
  @Argument(
    help: "The file to turn round, or numbered pictures such as 'frames/%05d.png'; - is standard input.",
    completion: .file())
  var input: String

  @Option(
    help: ArgumentHelp(
      "The most decoded media to hold in memory: 512MiB, 2G.", discussion: "What exceeds it goes to the spool.",
      valueName: "size"))
  var memory: ByteCount = ByteCount(512 << 20)

  @Option(
    help: ArgumentHelp("Where spool files live (default: TMPDIR, or /var/tmp).", valueName: "folder"),
    completion: .directory)
  var spoolDir: String?

  @Option(
    help: ArgumentHelp("Begin at this place of the source: seconds, 1:02.5, or a frame, 250f.", valueName: "place"))
  var start: SourcePosition?

  @Option(help: ArgumentHelp("End before this place of the source.", valueName: "place"))
  var end: SourcePosition?

  @Flag(help: "Leave out the sound.")
  var noAudio = false

  @Flag(help: "Leave out the picture.")
  var noVideo = false

  @Option(
    help: ArgumentHelp(
      "Mirror only these: video, audio, subtitles, chapters, or one of several, as in video,audio:1.", valueName: "list"
    ))
  var streams: StreamSelection?

  @Flag(help: "End with status 65, and make nothing, where a warning would say that something is missing.")
  var strict = false

  var options: ReverseOptions {
    var options = ReverseOptions()
    options.memory = memory
    if let spoolDir { options.spoolDirectory = spoolDir }
    options.start = start
    options.end = end
    options.noAudio = noAudio
    options.noVideo = noVideo
    options.isStrict = strict
    options.streams = streams
    return options
  }
}

extension ByteCount: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
  public var defaultValueDescription: String { description }
}

extension SourcePosition: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
}

extension StreamSelection: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
}

extension FrameRate: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
}

extension Timing: ExpressibleByArgument {}
extension Loop: ExpressibleByArgument {}
extension EncodingOptions.Quality: ExpressibleByArgument {}
