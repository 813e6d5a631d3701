import ArgumentParser
import Retrograde

/// Options of the recording.
struct RecordingArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Length of the recording. (default: until Ctrl-C)", valueName: "seconds"))
  var seconds: Double?

  @Option(help: ArgumentHelp("Number of frames to record. (default: until Ctrl-C)", valueName: "n"))
  var frames: Int?

  @Option(
    help: ArgumentHelp(
      "Camera: a name, number or path from the list of `retrograde devices`. (default: the first)",
      valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Microphone: a name or number from the list of `retrograde devices`, 'default', or elements in gst-launch-1.0 "
        + "syntax. (default: no audio)", valueName: "device"))
  var microphone: String?

  @Flag(help: "Show the camera's video in a window.")
  var preview = false

  @Option(
    help: ArgumentHelp(
      "Time to wait before the recording, 0 to 3600 seconds, while the camera is already running.", valueName: "seconds"
    ))
  var countdown = 0.0

  @Option(
    help: ArgumentHelp("Size to request from the camera, such as 1920x1080.", valueName: "size"))
  var size: PixelSize?

  @Option(help: ArgumentHelp("Frame rate to request from the camera.", valueName: "rate"))
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp(
      "Source of raw frames to use instead of a camera, as elements in gst-launch-1.0 syntax.", valueName: "description"
    ))
  var source: String?
}

/// Option for the order of play. The default is forwards, then backwards.
struct CaptureLoopArguments: ParsableArguments {
  @Option(help: .loop)
  var loop: Loop = .pingPong
}

struct CaptureCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture",
    abstract: "Records from a camera, and writes a clip that plays forwards, backwards or both.",
    discussion: """
      The recording ends after --seconds or --frames, or when you press Ctrl-C or close the preview. The clip is then \
      made from the recorded frames. A second Ctrl-C aborts, and no clip is written.

      EXAMPLES
        retrograde capture boomerang.mp4 --seconds 3
        retrograde capture boomerang.gif --device /dev/video2 --frames 45 --preview
        retrograde capture talk.mkv --loop reverse --microphone default
        retrograde capture screen.mp4 --source 'ximagesrc use-damage=0' --seconds 5
        retrograde capture test.mp4 --source 'videotestsrc is-live=true' --frames 60
      """)

  @OptionGroup var into: OutputArgument

  @OptionGroup(title: "Recording") var recording: RecordingArguments

  @OptionGroup(title: "What to play") var order: CaptureLoopArguments

  @OptionGroup var output: OutputArguments

  @OptionGroup var score: ScoreArguments

  @OptionGroup(title: "What to play") var seam: SeamArguments

  @OptionGroup(title: "Output") var strictness: StrictArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  private var device: String? { recording.device }
  private var source: String? { recording.source }
  private var microphone: String? { recording.microphone }
  private var seconds: Double? { recording.seconds }
  private var frames: Int? { recording.frames }
  private var countdown: Double { recording.countdown }
  private var size: PixelSize? { recording.size }
  private var fps: FrameRate? { recording.fps }

  func validate() throws {
    if device != nil && source != nil { throw ValidationError("--device and --source can't be used together.") }
    if source != nil && (size != nil || fps != nil) {
      throw ValidationError(
        "--size and --fps are for cameras only. Add caps to --source instead: '… ! video/x-raw,width=…'.")
    }
    if let seconds, !(seconds > 0 && seconds <= 1e6) {
      throw ValidationError("--seconds must be above 0, and at most 1000000.")
    }
    if let frames, frames < 1 { throw ValidationError("--frames must be 1 or more.") }
    if !(0...3600).contains(countdown) { throw ValidationError("--countdown must be 0 to 3600.") }
  }

  func run() async throws {
    var capture =
      try source.map { Capture(source: $0) }
      ?? Capture(Device.camera(device), size: size.map { ($0.width, $0.height) }, frameRate: fps)
    capture.microphone = try microphone.map { $0.contains(" ") ? $0 : try Device.microphone($0) }
    capture.duration = seconds.map { ClockTime(seconds: $0) }
    capture.frames = frames
    capture.countdown = ClockTime(seconds: countdown)
    capture.showsPreview = recording.preview
    output.apply(to: &capture.options)
    capture.options.playback.loop = order.loop
    score.apply(to: &capture.options.playback)
    seam.apply(to: &capture.options.playback)
    capture.options.output.isStrict = strictness.strict
    capture.options.resources = machine.resources
    let session = capture.start(to: into.output)
    try await output.reporting.display.follow(session.reversal, machine.memory) { session.stop() }
  }
}

extension Device {
  /// Finds a camera by number, path or name; nil selects the first one.
  static func camera(_ text: String?) throws -> Device {
    try find(text, .video) ?? text.flatMap { path in
      path.hasPrefix("/dev/") ? Device(videoAt: path) : nil
    }
      ?? {
        throw RetrogradeError(
          .noInput,
          about: text, text == nil ? "no camera is connected" : "no such camera is connected",
          remedy: "`retrograde devices` lists the devices; --source accepts any GStreamer source"
        )
      }()
  }

  /// Returns the source element for a microphone, in `gst-launch-1.0` syntax.
  static func microphone(_ text: String) throws -> String {
    if text == "default" { return "autoaudiosrc" }
    if let found = try find(text, .audio) { return found.source }
    throw RetrogradeError(
      .noInput, about: text, "no such microphone is connected", remedy: "`retrograde devices` lists the devices")
  }

  private static func find(_ text: String?, _ kind: Kind) throws -> Device? {
    let known = try all().filter { $0.kind == kind }
    guard let text else { return known.first }
    if let number = Int(text) { return known.indices.contains(number) ? known[number] : nil }
    return known.first { $0.name == text || $0.source.contains("\"\(text)\"") }
      ?? known.first { $0.name.lowercased().contains(text.lowercased()) }
  }
}

/// Size in pixels, such as `1280x720`.
struct PixelSize: ExpressibleByArgument {
  var width: Int
  var height: Int

  init?(argument: String) {
    let parts = argument.lowercased().split(separator: "x")
    guard parts.count == 2, let width = Int(parts[0]), let height = Int(parts[1]), (1...16_384).contains(width),
      (1...16_384).contains(height)
    else { return nil }
    (self.width, self.height) = (width, height)
  }
}
