import ArgumentParser
import Retrograde
import RetrogradeEngine

/// Options of `retrograde verify` for the comparison and its report.
struct VerifyArguments: ParsableArguments {
  @Flag(help: "Require that every pixel and sample is the same.")
  var lossless = false

  @Flag(help: "Print JSON.")
  var json = false
}

/// Options for the order of play and the frame times of the reversed file.
struct MirrorOrderArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Order of play that the mirror was made with.", valueName: "order"))
  var loop: Loop = .reverse

  @Option(help: ArgumentHelp("Number of times that the mirror plays the loop, 1 to 100000.", valueName: "n"))
  var count = 1

  @Option(
    help: ArgumentHelp("Frame times of the mirror; `retrograde help reverse` explains the values.", valueName: "timing")
  )
  var timing: Timing = .mirror

  @Option(
    help: ArgumentHelp(
      "Maximum frame rate that the mirror was made with. If the source is numbered images, this is their frame rate "
        + "instead. (default: no maximum; 25 for numbered images)", valueName: "rate"))
  var fps: FrameRate?
}

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks that one file is the exact reversal (the mirror) of another, frame for frame.",
    discussion: """
      Both files are decoded, and their frames, frame order, times, audio, sync, subtitles, chapters and tags are \
      compared. If the mirror has a lossy codec, each of its frames must be closer to its own source frame than to the \
      source frames before and after it. With --lossless, every pixel and sample must be the same. If the mirror was made with \
      options such as --loop, --start, --streams or --crop, give the same options to verify.

      The exit status is 0 if all checks pass, 1 if one fails, and 64 or more if a file cannot be compared.

      EXAMPLES
        retrograde verify holiday.mp4 reversed.mp4
        retrograde verify clip.mov exact.mkv --lossless
        retrograde verify jump.mp4 boomerang.mp4 --loop ping-pong
        retrograde verify holiday.mp4 reversed.mp4 --json | jq .isMirror
      """)

  @OptionGroup var from: InputArgument

  @Argument(help: "Reversed file to check.", completion: .file())
  var mirror: String

  @OptionGroup(title: "Checks") var checks: VerifyArguments

  @OptionGroup(title: "What to play") var order: MirrorOrderArguments

  @OptionGroup(title: "Picture") var framing: FramingArguments

  @OptionGroup var score: ScoreArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

  @OptionGroup var source: SourceArguments

  private var count: Int { order.count }
  private var fps: FrameRate? { order.fps }

  func validate() throws {
    guard PlaybackLegs.counts.contains(count) else {
      throw ValidationError("--count must be \(PlaybackLegs.counts.lowerBound) to \(PlaybackLegs.counts.upperBound).")
    }
  }

  func run() async throws {
    var options = source.options
    options.playback.loop = order.loop
    score.apply(to: &options.playback)
    options.playback.count = count
    options.playback.timing = order.timing
    options.playback.frameRate = ImageSequence.isPattern(from.input) ? nil : fps
    if let fps { options.playback.sequenceRate = fps }
    options.encoding.framing = framing.framing
    var verifier = Verifier(from.input, mirror: mirror, options: options)
    verifier.isLossless = checks.lossless
    let display = reporting.display
    let result = try await verifier.verify { display.show($0) }
    display.clear()
    if checks.json {
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
        : "\(result.mirror) is not the mirror of \(result.source); failed checks: "
          + result.checks.filter { !$0.holds }.map(\.subject).joined(separator: ", "))
  }
}
