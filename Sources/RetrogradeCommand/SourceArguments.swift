public import ArgumentParser
public import Retrograde

/// Argument for the source of a command.
struct InputArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp(
      "Source: a file, numbered images such as 'frames/%05d.png', or - for standard input. "
        + "An http, https or file URL also works, including that of an HLS or DASH playlist."),
    completion: .file())
  var input: String
}

/// Options that select streams of the source.
struct StreamArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use only these streams, separated by commas: video, audio, subtitles, chapters. A number, counted from 0, "
        + "selects one stream of that kind: video,audio:1 is all video and the second audio stream. (default: all)",
      valueName: "list"))
  var streams: StreamSelection?

  @Flag(help: "Leave out the audio.")
  var noAudio = false

  @Flag(help: "Leave out the video.")
  var noVideo = false
}

/// Options that all commands for reading a source share. The file name is not included.
struct SourceArguments: ParsableArguments {
  @OptionGroup(title: "What to play") var range: RangeArguments

  @OptionGroup(title: "What to play") var selection: StreamArguments

  @OptionGroup(title: "Output") var strictness: StrictArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  var options: ReverseOptions {
    ReverseOptions(
      playback: PlaybackOptions(
        start: range.start, end: range.end, streams: selection.streams, noAudio: selection.noAudio,
        noVideo: selection.noVideo),
      output: OutputOptions(isStrict: strictness.strict), resources: machine.resources)
  }
}

extension SourceArguments {
  /// Reports the contents of a source: prints JSON, or calls `show`.
  /// - Throws: ``RetrogradeError``. Its code is `damagedInput` if --strict is set and content would
  ///   be missing.
  func report(
    _ input: String, _ options: ReverseOptions, asJSON isJSON: Bool, _ show: (SourceReport) -> Void
  ) async throws {
    let report = try await Reverser(input, options: options).plan()
    if isJSON {
      try Terminal.print(json: report)
    } else {
      show(report)
    }
    try report.warnings.check(isStrict: strictness.strict, input)
  }
}

extension ByteCount: ExpressibleByArgument {
  public init?(argument: String) { self.init(parsing: argument) }
  public var defaultValueDescription: String { description }
}

extension SourcePosition {
  /// Parses an argument that is a position in the source.
  @Sendable static func argument(_ text: String) throws -> SourcePosition {
    guard let position = SourcePosition(parsing: text) else {
      throw ValidationError(
        "“\(text)” is not a position in the source. Write seconds (2.5), minutes and seconds (1:02.5), a frame (250f), "
          + "a time before the end (end-2.5), or a chapter's name in quotes.")
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
extension PlaybackOptions.Interpolation: ExpressibleByArgument {}
extension EncodingOptions.Quality: ExpressibleByArgument {}
