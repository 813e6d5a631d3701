import ArgumentParser
import Retrograde

/// Options that limit the use of machine resources.
struct ResourceArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Limit for decoded media in memory, such as 512MiB or 2G. The rest goes to temporary files (the spool).",
      valueName: "size"))
  var memory = Resources().memory

  @Option(
    help: ArgumentHelp("Folder for temporary files (the spool). (default: TMPDIR, or /var/tmp)", valueName: "folder"),
    completion: .directory)
  var spoolDir: String?

  var resources: Resources { Resources(memory: memory, spoolDirectory: spoolDir) }
}

/// Option for the order of play.
struct LoopArguments: ParsableArguments {
  @Option(help: .loop)
  var loop: Loop = .reverse
}

/// Option that allows existing outputs to be replaced.
struct OverwriteArguments: ParsableArguments {
  @Flag(name: [.customShort("y"), .long], help: "Replace existing outputs.")
  var overwrite = false
}

/// Options that select a part of the source.
struct RangeArguments: ParsableArguments {
  @Option(
    name: [.long, .customLong("from")], parsing: .unconditional,
    help: ArgumentHelp(
      "Start at this position in the source: seconds (2.5), 1:02.5, a frame (250f, counted from 0), end-2.5, or a "
        + "chapter's name in quotes. The commands play and serve accept only seconds and 1:02.5. (default: the start)",
      valueName: "position"),
    transform: SourcePosition.argument)
  var start: SourcePosition?

  @Option(
    name: [.long, .customLong("to")], parsing: .unconditional,
    help: ArgumentHelp("End before this position in the source. (default: the end)", valueName: "position"),
    transform: SourcePosition.argument)
  var end: SourcePosition?
}

/// Option that turns warnings about missing content into errors.
struct StrictArguments: ParsableArguments {
  @Flag(help: "Treat warnings about missing content as errors: exit with status 65, without an output file.")
  var strict = false
}

/// Options for the display of progress.
struct DisplayArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Form of the progress report on standard error. json: one JSON object per line. "
        + "(default: line on a terminal, otherwise none)", valueName: "form"))
  var progress: ProgressForm?

  @Flag(help: "Print only warnings and errors.")
  var quiet = false

  var display: ProgressDisplay {
    // JSON progress is meant for programs, so --quiet does not suppress it.
    let isSilent = quiet && progress != .json
    return ProgressDisplay(isSilent ? .none : progress ?? (Terminal.isInteractive ? .line : .none), isQuiet: quiet)
  }
}

extension ArgumentHelp {
  /// Help of `--loop`.
  static let loop = ArgumentHelp(
    "Order of play. ping-pong: forwards, then backwards; reverse-forward: backwards, then forwards. "
      + "The frame at which the direction changes is shown only once, and its audio is played only once.",
    valueName: "order")
}
