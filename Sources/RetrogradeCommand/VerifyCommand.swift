import ArgumentParser
import Retrograde
import RetrogradeEngine

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Find out whether one file is the exact mirror of another.",
    discussion: """
      Decodes both, and compares frames, order, times, audio, sync, subtitles, chapters and tags. Frames of lossy video have \
      to be nearer to their own source frame than to its neighbours; --lossless asks for every pixel and every sample. \
      Say how the mirror was made (--loop, --start, --streams, --crop, …) where that was not plain `reverse`.

      The exit status is 0 where everything holds, 1 where something differs, and as everywhere where a file can't be read.

      EXAMPLES
        retrograde verify holiday.mp4 yadiloh.mp4
        retrograde verify clip.mov clip-reversed.mkv --lossless
        retrograde verify jump.mp4 boomerang.mp4 --loop ping-pong
        retrograde verify holiday.mp4 yadiloh.mp4 --json | jq .isMirror
      """)

  @OptionGroup var from: InputArgument

  @OptionGroup var source: SourceArguments

  @Argument(help: "The file that should be its mirror.", completion: .file())
  var mirror: String

  @Flag(help: "Every pixel and every sample has to be the same.")
  var lossless = false

  @Option(help: ArgumentHelp("The order of play that the mirror was made with.", valueName: "order"))
  var loop: Loop = .reverse

  @OptionGroup var score: ScoreArguments

  @Option(help: ArgumentHelp("How often the loop was played.", valueName: "n"))
  var count = 1

  @Option(help: ArgumentHelp("How the frames were timed: mirror or source.", valueName: "timing"))
  var timing: Timing = .mirror

  @Option(help: ArgumentHelp("The most frames per second that were asked for.", valueName: "rate"))
  var fps: FrameRate?

  @OptionGroup var framing: FramingArguments

  @Flag(help: "As JSON.")
  var json = false

  @OptionGroup var reporting: DisplayArguments

  func validate() throws {
    guard PlaybackLegs.counts.contains(count) else {
      throw ValidationError("--count must be \(PlaybackLegs.counts.lowerBound) to \(PlaybackLegs.counts.upperBound).")
    }
  }

  func run() async throws {
    var options = source.options
    options.playback.loop = loop
    score.apply(to: &options.playback)
    options.playback.count = count
    options.playback.timing = timing
    options.playback.frameRate = ImageSequence.isPattern(from.input) ? nil : fps
    if let fps { options.playback.sequenceRate = fps }
    options.encoding.framing = framing.framing
    var verifier = Verifier(from.input, mirror: mirror, options: options)
    verifier.isLossless = lossless
    let display = reporting.display
    let result = try await verifier.verify { display.show($0) }
    display.clear()
    if json {
      try Terminal.print(json: result)
    } else {
      show(result)
    }
    try result.warnings.check(isStrict: source.strictness.strict, from.input)
    if !result.isMirror { throw ExitCode(1) }
  }

  private func show(_ result: Verification) {
    for warning in result.warnings { Terminal.error("retrograde: warning: \(warning.message.inOptions)") }
    if reporting.quiet { return }
    let width = (result.checks.map(\.subject.count).max() ?? 0) + 2
    for check in result.checks {
      let subject = check.subject + String(repeating: " ", count: width - check.subject.count)
      Terminal.print("\(check.holds ? "  " : "! ")\(subject)\(check.finding)")
    }
    Terminal.print(
      result.isMirror
        ? "\(result.mirror) is the mirror of \(result.source)"
        : "\(result.mirror) is not the mirror of \(result.source): "
          + result.checks.filter { !$0.holds }.map(\.subject).joined(separator: ", "))
  }
}
