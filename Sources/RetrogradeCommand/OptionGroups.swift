import ArgumentParser
import Retrograde

/// Options of the machine's resources that a run may use.
struct ResourceArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The most decoded media to hold in memory: 512MiB, 2G.", discussion: "What exceeds it goes to the spool.",
      valueName: "size"))
  var memory = Resources().memory

  @Option(
    help: ArgumentHelp("Where spool files live (default: TMPDIR, or /var/tmp).", valueName: "folder"),
    completion: .directory)
  var spoolDir: String?

  var resources: Resources { Resources(memory: memory, spoolDirectory: spoolDir) }
}

/// Options of the part of a source that is played.
struct RangeArguments: ParsableArguments {
  @Option(
    name: [.long, .customLong("from")], parsing: .unconditional,
    help: ArgumentHelp(
      "Begin at this place of the source: seconds, 1:02.5, or, except in play, a frame (250f), end-2.5, or a chapter in quotes.",
      valueName: "place"),
    transform: SourcePosition.argument)
  var start: SourcePosition?

  @Option(
    name: [.long, .customLong("to")], parsing: .unconditional,
    help: ArgumentHelp("End before this place of the source.", valueName: "place"),
    transform: SourcePosition.argument)
  var end: SourcePosition?
}

/// Option that turns a warning into an error.
struct StrictArguments: ParsableArguments {
  @Flag(help: "End with status 65, and make nothing, where a warning would say that something is missing.")
  var strict = false
}

/// Options of the output while the command works.
struct DisplayArguments: ParsableArguments {
  @Option(help: ArgumentHelp("line, json (an object a line on standard error), or none.", valueName: "form"))
  var progress: ProgressForm?

  @Flag(help: "Say nothing but warnings and errors.")
  var quiet = false

  var display: ProgressDisplay {
    // JSON is for a program, which asked for it.
    let isSilent = quiet && progress != .json
    return ProgressDisplay(isSilent ? .none : progress ?? (Terminal.isInteractive ? .line : .none), isQuiet: quiet)
  }
}

extension ArgumentHelp {
  /// Help of `--loop`.
  static let loop = ArgumentHelp(
    "reverse; ping-pong: forwards, then back; reverse-forward: back, then forwards; forward. At a turn the frame is "
      + "shown once, and the audio loses the same stretch.", valueName: "order")
}
