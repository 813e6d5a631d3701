public import ArgumentParser
public import Retrograde

/// What every command that reads a source takes.
struct SourceArguments: ParsableArguments {
  @Argument(
    help: "The file to turn round, or numbered images such as 'frames/%05d.png'; - is standard input.",
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
    parsing: .unconditional,
    help: ArgumentHelp("Begin at this place of the source: seconds, 1:02.5, or a frame, 250f.", valueName: "place"),
    transform: SourcePosition.argument)
  var start: SourcePosition?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("End before this place of the source.", valueName: "place"),
    transform: SourcePosition.argument)
  var end: SourcePosition?

  @Flag(help: "Leave out the audio.")
  var noAudio = false

  @Flag(help: "Leave out the video.")
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

extension SourceArguments {
  /// Tells what is in the source, as JSON or by `show`.
  /// - Throws: ``RetrogradeError``; of code `damagedInput` with --strict where something would be missing.
  func report(asJSON isJSON: Bool, _ show: (SourceReport) -> Void) async throws {
    let report = try await Reverser(input, options: options).plan()
    if isJSON {
      try Terminal.print(json: report)
    } else {
      show(report)
    }
    try report.warnings.check(isStrict: strict, input)
  }
}

extension ByteCount: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
  public var defaultValueDescription: String { description }
}

extension SourcePosition {
  /// Reads an argument.
  @Sendable static func argument(_ text: String) throws -> SourcePosition {
    guard let position = SourcePosition(parsing: text) else {
      throw ValidationError(
        "“\(text)” is no place in the source. Places are counted from its start, which is 0: seconds, such as 2.5, minutes "
          + "and seconds, such as 1:02.5, or a frame, such as 250f.")
    }
    return position
  }
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
