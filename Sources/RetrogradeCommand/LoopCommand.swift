import ArgumentParser
import Retrograde

struct LoopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "loop",
    abstract: "Find the stretch of a film that closes best, and write it as a loop.",
    discussion: """
      All of INPUT is looked through for the two frames that fit best, with what moves before and after them, and with what is heard \
      there. How well they fit is said by how far the seam jumps, beside how far neighbouring frames are apart anyway: up to 1.5 \
      times as far can't be told from them. A ping-pong is turned where the picture moves least.

      EXAMPLES
        retrograde loop waves.mp4 loop.mp4
        retrograde loop waves.mp4 loop.gif --length 1..3 --width 480
        retrograde loop waves.mp4 loop.mp4 --from 10 --to 40 --show seam.png
        retrograde loop waves.mp4 loop.mp4 --count 10 --seam blend 0.4
        retrograde loop jump.mp4 boomerang.mp4 --loop ping-pong
      """)

  @OptionGroup var files: InputOutputArguments

  @OptionGroup var source: SourceArguments

  @OptionGroup var output: OutputArguments

  @Option(
    help: ArgumentHelp("How long the loop may be, in seconds: 2..6 unless said otherwise.", valueName: "from..to"))
  var length: LengthRange?

  @Option(
    help: ArgumentHelp(
      "forward or reverse: a cycle; ping-pong or reverse-forward: back and forth.", valueName: "order"))
  var loop: Loop = .forward

  @Option(
    parsing: .upToNextOption,
    help: ArgumentHelp(
      "cut: nothing is changed; blend SECONDS: what comes after the end goes on for so long, in picture and audio, while the beginning "
        + "comes. After INPUT and OUTPUT.", valueName: "cut|blend seconds"))
  var seam: [String] = []

  @Option(
    help: ArgumentHelp("Make a PNG of the frames before and after the seam, side by side.", valueName: "file"),
    completion: .file())
  var show: String?

  func validate() throws { _ = try loopSeam }

  private var loopSeam: LoopSeam {
    get throws {
      let words = seam.flatMap { $0.split(separator: " ") }
      if words.isEmpty || words == ["cut"] { return .cut }
      guard words.count == 2, words[0] == "blend", let seconds = Double(words[1]), (0.01...60).contains(seconds) else {
        throw ValidationError(
          "--seam is cut, or blend and 0.01 to 60 seconds: blend 0.4. It stands after INPUT and OUTPUT.")
      }
      return .blend(ClockTime(seconds: seconds))
    }
  }

  func run() async throws {
    var options = source.options
    output.apply(to: &options)
    options.playback.loop = loop
    let finder = LoopFinder(files.from.input, lengths: length?.range, options: options)
    let reversal = finder.start(to: files.into.output, seam: try loopSeam, showing: show)
    try await output.reporting.display.follow(reversal, source.machine.memory)
  }
}

/// Two lengths of time, in seconds: `2..6`.
struct LengthRange: ExpressibleByArgument {
  var range: ClosedRange<ClockTime>

  init?(argument: String) {
    guard let dots = argument.firstRange(of: ".."), let from = Double(argument[..<dots.lowerBound]),
      let to = Double(argument[dots.upperBound...]), from > 0, from <= to, to <= 86_400
    else { return nil }
    range = ClockTime(seconds: from)...ClockTime(seconds: to)
  }
}

extension FoundLoop {
  /// Description of the loop that was found, and of how well it fits, in a line for each.
  var words: [String] {
    let place = "loop: \(span.start) to \(span.end) of the source, \(span.duration)"
    let seam = isGood ? "can't be told from what is around it" : "can be noticed"
    let advice =
      isGood || loop.turns
      ? ""
      : "; " + (blend.map { "mixed over \($0)" } ?? "--seam blend 0.4 hides it, --length and --from look elsewhere")
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
    "\(verb) by \(residual.rounded(to: 1)) \(unit); \(usual.rounded(to: 1)) is usual \(step), up to \(limit.rounded(to: 1)) is not noticed"
  }
}
