public import ArgumentParser
public import Retrograde

/// The one source of a command.
struct InputArgument: ParsableArguments {
  @Argument(
    help:
      "The file to turn round, numbered images such as 'frames/%05d.png', or an address: http, https, file, also of a playlist (HLS, DASH); - is standard input.",
    completion: .file())
  var input: String
}

/// Options of every command that reads a source, but for the source itself.
struct SourceArguments: ParsableArguments {
  @OptionGroup var machine: ResourceArguments

  @OptionGroup var range: RangeArguments

  @Flag(help: "Leave out the audio.")
  var noAudio = false

  @Flag(help: "Leave out the video.")
  var noVideo = false

  @Option(
    help: ArgumentHelp(
      "Mirror only these: video, audio, subtitles, chapters, or one of several, as in video,audio:1.", valueName: "list"
    ))
  var streams: StreamSelection?

  @OptionGroup var strictness: StrictArguments

  var options: ReverseOptions {
    ReverseOptions(
      playback: PlaybackOptions(
        start: range.start, end: range.end, streams: streams, noAudio: noAudio, noVideo: noVideo),
      output: OutputOptions(isStrict: strictness.strict), resources: machine.resources)
  }
}

extension SourceArguments {
  /// Reports the content of a source, as JSON or by `show`.
  /// - Throws: ``RetrogradeError``; of code `damagedInput` with --strict where something would be missing.
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
  /// Reads an argument.
  @Sendable static func argument(_ text: String) throws -> SourcePosition {
    guard let position = SourcePosition(parsing: text) else {
      throw ValidationError(
        "“\(text)” is no place in the source. Places are counted from its start, which is 0: seconds, such as 2.5, minutes "
          + "and seconds, such as 1:02.5, a frame, such as 250f, end-2.5, or a chapter's name in quotes.")
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
