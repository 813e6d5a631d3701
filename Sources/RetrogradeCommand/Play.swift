import ArgumentParser
import Dispatch
import Glibc
import Retrograde
import RetrogradeEngine
import RetrogradePlayer
import Synchronization

/// Options for the order of play, including endless playback.
struct PlayOrderArguments: ParsableArguments {
  @Option(help: .loop)
  var loop: Loop = .reverse

  @Option(
    help: ArgumentHelp("Number of times to play the loop, 1 to 100000; 0 repeats it endlessly.", valueName: "n"))
  var count = 1
}

/// Options for sinks and messages.
struct SinkArguments: ParsableArguments {
  @Flag(help: "Print only warnings and errors.")
  var quiet = false

  @Option(
    help: ArgumentHelp("Video sink in gst-launch-1.0 syntax. (default: a window)", valueName: "sink"))
  var videoSink: String?

  @Option(help: ArgumentHelp("Audio sink in gst-launch-1.0 syntax.", valueName: "sink"))
  var audioSink: String?
}

struct Play: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Plays a file backwards in a window, with audio, without writing a file.",
    discussion: """
      These keys work in the window and in the terminal.

      KEYS
        space          pause, resume
        right, left    5 seconds forward, back
        up, down       a minute forward, back
        q              quit

      EXAMPLES
        retrograde play holiday.mp4
        retrograde play jump.mp4 --loop ping-pong --count 0
        retrograde play jump.mp4 --score '0..end x0.5, end..0 x2'
        retrograde play talk.mp4 --start 1:02.5 --end 1:10
      """)

  @Argument(help: "File to play.", completion: .file())
  var input: String

  @OptionGroup(title: "What to play") var order: PlayOrderArguments

  @OptionGroup(title: "What to play") var range: RangeArguments

  @OptionGroup var score: ScoreArguments

  @OptionGroup(title: "Output") var sinks: SinkArguments

  @OptionGroup(title: "Output") var strictness: StrictArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  private var loop: Loop { order.loop }
  private var count: Int { order.count }
  private var quiet: Bool { sinks.quiet }

  func validate() throws {
    guard count == 0 || PlaybackLegs.counts.contains(count) else {
      throw ValidationError("--count must be 0 to \(PlaybackLegs.counts.upperBound).")
    }
    guard [range.start, range.end].allSatisfy({ $0.map { $0.time != nil } ?? true }) else {
      throw ValidationError(
        "play accepts only times for --start and --end, such as 1:02.5. --score accepts other positions too.")
    }
  }

  func run() async throws {
    var playback = PlaybackOptions(loop: loop, count: max(count, 1), start: range.start, end: range.end)
    score.apply(to: &playback)
    try playback.checkScore()
    let player = Player(
      input, playback: playback, isEndless: count == 0, resources: machine.resources, videoSink: sinks.videoSink,
      audioSink: sinks.audioSink)
    let keys = Keyboard { Play.handleKey($0, player) }
    defer { keys.stop() }
    let refused = Mutex<String?>(nil)
    let isSilent = quiet || !Terminal.isInteractive
    let isInterrupted = Mutex(false)
    let interrupt: @Sendable () -> Void = {
      isInterrupted.withLock { $0 = true }
      player.stop()
    }
    try await Interruption.handled(by: interrupt) {
      try await player.run { event in
        switch event {
        case .key(let key): Play.handleKey(key, player)
        case .warning(let text):
          if strictness.strict {
            refused.withLock { $0 = $0 ?? text }
            player.stop()
          } else {
            Terminal.error("retrograde: warning: \(text)")
          }
        case .position(let position, let end, let isPaused):
          if isSilent { return }
          let length = end.map { " / \($0)" } ?? ""
          Terminal.write("\r\(position)\(length)\(isPaused ? "  paused" : "")\u{1B}[K", to: STDERR_FILENO)
        }
      }
    }
    if !isSilent { Terminal.write("\r\u{1B}[K", to: STDERR_FILENO) }
    if isInterrupted.withLock({ $0 }) { throw CancellationError() }
    if let text = refused.withLock({ $0 }) { throw RetrogradeError(.damagedInput, about: input, "\(text) (--strict)") }
  }

  private static func handleKey(_ key: String, _ player: Player) {
    switch key {
    case " ", "space": player.togglePause()
    case "Right": player.seek(by: .seconds(5))
    case "Left": player.seek(by: .seconds(-5))
    case "Up": player.seek(by: .seconds(60))
    case "Down": player.seek(by: .seconds(-60))
    case "q", "Q", "Escape": player.stop()
    default: break
    }
  }
}

/// Reads single key presses from the terminal until ``stop()`` is called.
private final class Keyboard: Sendable {
  private let before: termios?
  private let isStopped = Mutex(false)

  /// - Parameter press: called on a separate thread with a character or the name of an arrow key.
  init(_ press: @escaping @Sendable (String) -> Void) {
    var settings = termios()
    guard isatty(STDIN_FILENO) == 1, tcgetattr(STDIN_FILENO, &settings) == 0 else {
      before = nil
      return
    }
    before = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    DispatchQueue(label: "keyboard").async { [self] in
      let arrows = ["\u{1B}[A": "Up", "\u{1B}[B": "Down", "\u{1B}[C": "Right", "\u{1B}[D": "Left"]
      while !isStopped.withLock({ $0 }) {
        var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 200) > 0 else { continue }
        var bytes = [UInt8](repeating: 0, count: 8)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else { return }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        press(arrows[text] ?? text)
      }
    }
  }

  /// Restores the terminal's settings.
  func stop() {
    isStopped.withLock { $0 = true }
    if var before { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
  }
}
