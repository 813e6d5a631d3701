import ArgumentParser
import Retrograde

struct CaptureCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "capture",
    abstract: "Record from a camera, and make a clip of it in any order of play.",
    discussion: """
      Records until --seconds or --frames are there; Ctrl-C, or closing the preview, ends the recording sooner and makes \
      the clip of what there is. A second Ctrl-C gives up.

      EXAMPLES
        retrograde capture boomerang.mp4 --seconds 3
        retrograde capture boomerang.gif --device /dev/video2 --frames 45 --width 480 --preview --countdown 3
        retrograde capture talk.mkv --loop reverse --microphone default
        retrograde capture screen.mp4 --source 'ximagesrc use-damage=false' --seconds 5
        retrograde capture test.mp4 --source 'videotestsrc is-live=true pattern=ball' --frames 60
      """)

  @OptionGroup var into: OutputArgument

  @OptionGroup var output: OutputArguments

  @Option(
    help: ArgumentHelp(
      "A camera, by the name, number or path that `retrograde devices` shows; the first one unless said otherwise.",
      valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp(
      "Elements in gst-launch-1.0 syntax that give raw frames, instead of a device.", valueName: "description"))
  var source: String?

  @Option(
    help: ArgumentHelp(
      "Record audio with it: a name or number from `retrograde devices`, default, or elements in gst-launch-1.0 syntax.",
      valueName: "device"))
  var microphone: String?

  @Option(help: ArgumentHelp("How long to record.", valueName: "seconds"))
  var seconds: Double?

  @Option(help: ArgumentHelp("How many frames to record.", valueName: "n"))
  var frames: Int?

  @Option(help: ArgumentHelp("Seconds to wait, with the camera running, before recording.", valueName: "seconds"))
  var countdown = 0.0

  @Flag(help: "Show what the camera sees in a window.")
  var preview = false

  @Option(help: ArgumentHelp("The size to ask the camera for, such as 1920x1080.", valueName: "size"))
  var size: PixelSize?

  @Option(help: ArgumentHelp("The frames per second to ask the camera for.", valueName: "rate"))
  var fps: FrameRate?

  @OptionGroup var score: ScoreArguments

  @OptionGroup var seam: SeamArguments

  @Option(help: .loop)
  var loop: Loop = .pingPong

  @OptionGroup var machine: ResourceArguments

  @OptionGroup var strictness: StrictArguments

  func validate() throws {
    if device != nil && source != nil { throw ValidationError("--device and --source exclude each other.") }
    if source != nil && (size != nil || fps != nil) {
      throw ValidationError("--size and --fps ask a camera; put them into --source: '… ! video/x-raw,width=…'.")
    }
    if let seconds, seconds <= 0 || seconds > 1e6 { throw ValidationError("--seconds must be above 0.") }
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
    capture.showsPreview = preview
    output.apply(to: &capture.options)
    capture.options.playback.loop = loop
    score.apply(to: &capture.options.playback)
    seam.apply(to: &capture.options.playback)
    capture.options.output.isStrict = strictness.strict
    capture.options.resources = machine.resources
    let session = capture.start(to: into.output)
    try await output.reporting.display.follow(session.reversal, machine.memory) { session.stop() }
  }
}

extension Device {
  /// A camera by its number, path or name; the first one for nil.
  static func camera(_ text: String?) throws -> Device {
    try find(text, .video) ?? text.flatMap { path in
      path.hasPrefix("/dev/") ? Device(videoAt: path) : nil
    }
      ?? {
        throw RetrogradeError(
          .noInput,
          about: text ?? "capture", "no such camera",
          remedy: "`retrograde devices` lists what there is, --source takes any GStreamer source"
        )
      }()
  }

  /// Element that reads from a microphone.
  static func microphone(_ text: String) throws -> String {
    if text == "default" { return "autoaudiosrc" }
    if let found = try find(text, .audio) { return found.source }
    throw RetrogradeError(
      .noInput, about: text, "no such microphone", remedy: "`retrograde devices` lists what there is")
  }

  private static func find(_ text: String?, _ kind: Kind) throws -> Device? {
    let known = try all().filter { $0.kind == kind }
    guard let text else { return known.first }
    if let number = Int(text) { return known.indices.contains(number) ? known[number] : nil }
    return known.first { $0.name == text || $0.source.contains("\"\(text)\"") }
      ?? known.first { $0.name.lowercased().contains(text.lowercased()) }
  }
}

/// A size in pixels: `1280x720`.
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
