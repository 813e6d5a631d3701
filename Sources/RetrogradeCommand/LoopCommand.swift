import ArgumentParser
import Retrograde

/// Options for finding a loop in a file, and for the seam, where the loop ends and starts again.
struct LoopSearchArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp("Minimum and maximum length of the loop, in seconds. (default: 2..6)", valueName: "from..to"))
  var length: LengthRange?

  @Option(
    help: ArgumentHelp(
      "Order of play. forward or reverse: the loop plays in one direction, and starts again; ping-pong or "
        + "reverse-forward: it plays in both directions in turn.", valueName: "order"))
  var loop: Loop = .forward

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "How the end of the loop leads to its start. cut: without a transition; blend SECONDS (0.01 to 60): with a "
        + "crossfade of that length. What follows the loop in the source fades out while the start of the loop fades "
        + "in. Write this option after INPUT and OUTPUT. (default: cut)",
      valueName: "cut|blend seconds"))
  var seam: [String] = []
}

/// Option that writes an image of the frames at the loop's seam, where the loop ends and starts
/// again.
struct SeamImageArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Write a PNG of the frames before and after the seam, side by side.", valueName: "file"),
    completion: .file())
  var show: String?
}

struct LoopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "loop",
    abstract: "Finds the part of a video that loops most smoothly, and writes it as a loop.",
    discussion: """
      The command searches INPUT for the two frames that match best, and compares the motion and the audio around them \
      too. At the seam, the loop starts again. The command prints how much the picture jumps there, and how much \
      neighbouring frames differ elsewhere. Viewers do not notice a jump of up to 1.5 times that difference. With --loop ping-pong, the \
      loop turns where there is the least motion.

      EXAMPLES
        retrograde loop waves.mp4 loop.mp4
        retrograde loop waves.mp4 loop.gif --length 1..3 --width 480
        retrograde loop waves.mp4 loop.mp4 --from 10 --to 40 --show seam.png
        retrograde loop waves.mp4 loop.mp4 --count 10 --seam blend 0.4
        retrograde loop jump.mp4 boomerang.mp4 --loop ping-pong
      """)

  @OptionGroup var from: InputArgument

  @OptionGroup var into: OutputArgument

  @OptionGroup(title: "What to play") var search: LoopSearchArguments

  @OptionGroup var output: OutputArguments

  @OptionGroup(title: "Output") var report: SeamImageArguments

  @OptionGroup var source: SourceArguments

  func validate() throws { _ = try loopSeam }

  private var loopSeam: LoopSeam {
    get throws {
      let words = search.seam.flatMap { $0.split(separator: " ") }
      if words.isEmpty || words == ["cut"] { return .cut }
      guard words.count == 2, words[0] == "blend", let seconds = Double(decimal: words[1]),
        (0.01...60).contains(seconds)
      else {
        throw ValidationError(
          "--seam must be cut, or blend with 0.01 to 60 seconds: --seam blend 0.4. Write it after INPUT and OUTPUT.")
      }
      return .blend(ClockTime(seconds: seconds))
    }
  }

  func run() async throws {
    var options = source.options
    output.apply(to: &options)
    options.playback.loop = search.loop
    let finder = LoopFinder(from.input, lengths: search.length?.range, options: options)
    let reversal = finder.start(to: into.output, seam: try loopSeam, showing: report.show)
    try await output.reporting.display.follow(reversal, source.machine.memory)
  }
}

/// Range of durations in seconds, such as `2..6`.
struct LengthRange: ExpressibleByArgument {
  var range: ClosedRange<ClockTime>

  init?(argument: String) {
    guard let dots = argument.firstRange(of: ".."), let from = Double(decimal: argument[..<dots.lowerBound]),
      let to = Double(decimal: argument[dots.upperBound...]), from > 0, from <= to, to <= 86_400
    else { return nil }
    range = ClockTime(seconds: from)...ClockTime(seconds: to)
  }
}

extension FoundLoop {
  /// Description of the found loop and its quality, in several lines.
  var words: [String] {
    let place = "loop: \(span.start) to \(span.end) of the source, \(span.duration) long"
    let seam = isGood ? "not noticeable" : "noticeable"
    let advice =
      isGood || loop.turns
      ? ""
      : "; "
        + (blend.map { "crossfaded over \($0)" }
          ?? "hide it with --seam blend 0.4, or search elsewhere with --length or --from")
    var words = [place, "seam: \(seam)\(advice)"]
    words.append(
      "picture: "
        + picture.words(loop.turns ? "moves at the turns" : "jumps", "of 255 levels", "between frames"))
    if let audio { words.append("audio: " + audio.words("jumps", "dB", "within 40 ms")) }
    return words
  }
}

extension FoundLoop.Fit {
  fileprivate func words(_ verb: String, _ unit: String, _ step: String) -> String {
    "\(verb) by \(residual.rounded(to: 1)) \(unit) (usual \(step): \(usual.rounded(to: 1)); "
      + "not noticeable up to \(limit.rounded(to: 1)))"
  }
}
