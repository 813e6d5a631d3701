import ArgumentParser
import GStreamer
import Retrograde

struct FrameCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frame",
    abstract: "Write single frames of a file as images.",
    discussion: """
      A place is a time (3.2, 3.2s, 1:02.5), a frame (250f, counted from 0), end-1 (a second before the end), a chapter's name in \
      quotes, or last. The frame that is on show there is written as it is shown, upright and with square pixels, as png, jpg, webp, \
      tiff or bmp. Of a time, no more is read and decoded than what lies around it. For several frames the name has a place for \
      their numbers, which count from 1.

      EXAMPLES
        retrograde frame holiday.mp4 3.2s frame.png
        retrograde frame holiday.mp4 last end.jpg --width 640
        retrograde frame holiday.mp4 0 250f last 'frame-%02d.png'
        retrograde frame concert.mkv '"Chorus"' chorus.png
      """)

  @Argument(help: "The file that has the frames; - is standard input.", completion: .file())
  var input: String

  @Argument(
    help: ArgumentHelp(
      "One place or more, and then the image to make, or a pattern of numbered ones.", valueName: "place> ... <output"),
    completion: .file())
  var places: [String]

  @OptionGroup var machine: ResourceArguments

  @Flag(name: [.customShort("y"), .long], help: "Replace the images if they exist.")
  var overwrite = false

  @OptionGroup var framing: FramingArguments

  @Option(
    help: ArgumentHelp("Of numbered images as input: how fast they are shown (25).", valueName: "rate"))
  var fps: FrameRate?

  @OptionGroup var reporting: DisplayArguments

  func validate() throws {
    guard places.count > 1 else {
      let example = "retrograde frame \(Shell.quoted(input)) 3.2s frame.png"
      throw ValidationError("Say which frame, and into which file: \(example)")
    }
    _ = try positions
  }

  private var positions: [SourcePosition] {
    get throws { try places.dropLast().map { $0 == "last" ? .end : try SourcePosition.argument($0) } }
  }

  func run() async throws {
    var options = ReverseOptions(
      encoding: EncodingOptions(framing: framing.framing), output: OutputOptions(overwrites: overwrite),
      resources: machine.resources)
    if let fps { options.playback.sequenceRate = fps }
    let grab = FrameGrab(input, at: try positions, options: options)
    try await reporting.display.follow(grab.start(to: places[places.count - 1]), machine.memory)
  }
}
