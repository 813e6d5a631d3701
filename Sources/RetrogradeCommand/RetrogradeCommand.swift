import ArgumentParser
import CVersion
import Glibc
import Retrograde
import Paths

@main
struct RetrogradeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retrograde",
    abstract: "Reverses video and audio.",
    discussion: """
      EXAMPLES
        retrograde reverse holiday.mp4 reversed.mp4
        retrograde reverse jump.mp4 boomerang.mp4 --loop ping-pong
        retrograde reverse jump.mp4 loop.gif --fps 15 --width 480
        retrograde reverse *.mp4 --into reversed
        retrograde loop waves.mp4 loop.mp4 --length 2..6
        retrograde frame holiday.mp4 3.2s frame.png
        retrograde play holiday.mp4
        retrograde info holiday.mp4
        retrograde verify holiday.mp4 reversed.mp4
        retrograde capture boomerang.mp4 --seconds 3

      The command may be left out, and is then 'reverse': retrograde holiday.mp4 reversed.mp4

      'retrograde help reverse' explains the options. Exit statuses 64 to 74 are those of sysexits.h.

      EXIT STATUS
        0      success
        1      not an exact mirror (verify)
        64     wrong arguments
        65     the input is damaged, or not media
        66     the input is missing or can't be read
        69     a GStreamer plugin is missing
        70     internal failure, or a crash
        73     the output can't be created
        74     the disk is full, or reading or writing failed
        128+n  ended by signal n: 130 after Ctrl-C
      """,
    version: "retrograde \(RETROGRADE_VERSION)\n\(GStreamerReleases().description)",
    groupedSubcommands: [
      CommandGroup(
        name: "Everyday",
        subcommands: [
          Reverse.self, LoopCommand.self, FrameCommand.self, Play.self, Serve.self, Info.self, VerifyCommand.self,
        ]),
      CommandGroup(
        name: "More",
        subcommands: [
          WorkCommand.self, CaptureCommand.self, Run.self, PlanCommand.self, Codecs.self, Presets.self, Devices.self,
          Child.self,
        ]),
    ])

  static func main() async {
    Terminal.holdStandardDescriptors()
    Crash.report()
    // Limit OpenBLAS, which FFmpeg's libraries load for speech recognition, to one thread. By
    // default, it starts one thread per processor, and each thread spins for a tenth of a second
    // (`THREAD_TIMEOUT` in OpenBLAS's Makefile.rule). The first frames of a short clip are decoded
    // in that time, and spinning threads would delay them.
    setenv("OPENBLAS_NUM_THREADS", "1", 0)
    if Child.isThisProcess { ChildService.ignoreTerminalSignals() }
    let interruption = Interruption()
    do {
      try OpenFiles.check()
      do {
        try await run(
          parseAsRoot(
            BareForm.completed(arguments, configuration.subcommands)))
      } catch let error where exitCode(for: error).isSuccess {
        let text = fullMessage(for: error)  // --help, --version, completion scripts
        let script = CompletionScript.wanted(by: arguments, BareForm.firstWords(configuration.subcommands))
        print(script ?? (asksForShortHelp ? ShortHelp.of(text) : text))
      }
      try Terminal.finishOutput()
      Terminal.exit(0)
    } catch let reported as ReportedError {
      Terminal.exit(interruption.status(of: reported.error))
    } catch let error as RetrogradeError {
      Terminal.error("retrograde: \(error.message.inOptions)")
      Terminal.exit(interruption.status(of: error))
    } catch let error as CancellationError {
      Terminal.exit(interruption.status(of: error))
    } catch {
      // This error comes from swift-argument-parser. Usage errors have the exit status EX_USAGE.
      let message = fullMessage(for: error)
      if !message.isEmpty { Terminal.error(lines: message) }
      Terminal.exit(exitCode(for: error).rawValue)
    }
  }

  /// Arguments after the program's name. `CommandLine.arguments` would replace bytes that are not
  /// UTF-8.
  private static var arguments: [String] {
    UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst()
      .compactMap { $0.map { String(cPath: $0) } }
  }

  private static var asksForShortHelp: Bool {
    let options = arguments.prefix { $0 != "--" }
    return options.contains("-h") && !options.contains("--help")
  }

  private static func run(_ command: any ParsableCommand) async throws {
    do {
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        var command = command
        try command.run()
      }
    } catch let error as ValidationError {
      // The parser does not know which command threw an error from `run()`, so print the usage
      // here.
      let type = Swift.type(of: command)
      Terminal.error(
        lines: """
          Error: \(error.message)
          Usage: \(usageString(for: type))
            See 'retrograde \(path(of: type)) --help' for more information.
          """)
      throw ExitCode.validationFailure
    }
  }

  /// Returns the full command name, such as `reverse` or `work split`.
  private static func path(of command: any ParsableCommand.Type) -> String {
    let parent = WorkCommand.names.contains(command._commandName) ? "\(WorkCommand._commandName) " : ""
    return parent + command._commandName
  }
}
