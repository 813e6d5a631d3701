import ArgumentParser
import GStreamer
import Retrograde

/// Option for the frame rate of numbered input images.
struct ImageRateArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp("Frame rate of INPUT, if it is numbered images. (default: 25)", valueName: "rate"))
  var fps: FrameRate?
}

struct FrameCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "frame",
    abstract: "Writes single frames of a file as images.",
    discussion: """
      A position is a time (3.2, 3.2s, 1:02.5), a frame (250f, counted from 0), end-1 (a second before the end), a \
      chapter's name in quotes, or last (the last frame). The frame that is shown at this position is written upright \
      and with square pixels, as png, jpg, webp, tiff or bmp. If the position is a time, only the part of the file around that time is read. \
      To write several frames, give a pattern such as 'frame-%02d.png' as output; its numbers start at 1.

      EXAMPLES
        retrograde frame holiday.mp4 3.2s frame.png
        retrograde frame holiday.mp4 last end.jpg --width 640
        retrograde frame holiday.mp4 0 250f last 'frame-%02d.png'
        retrograde frame concert.mkv '"Chorus"' chorus.png
      """)

  @Argument(help: "Source: a file, or - for standard input.", completion: .file())
  var input: String

  @Argument(
    help: ArgumentHelp(
      "One or more positions, then the output: an image, or a pattern of numbered images.",
      valueName: "position> ... <output"),
    completion: .file())
  var places: [String]

  @OptionGroup(title: "Picture") var framing: FramingArguments

  @OptionGroup(title: "Picture") var rate: ImageRateArguments

  @OptionGroup(title: "Output") var writing: OverwriteArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

  @OptionGroup(title: "Machine") var machine: ResourceArguments

  func validate() throws {
    guard places.count > 1 else {
      let example = "retrograde frame \(Shell.quoted(input)) 3.2s frame.png"
      throw ValidationError("Give at least one position and an output file: \(example)")
    }
    _ = try positions
  }

  private var positions: [SourcePosition] {
    get throws { try places.dropLast().map { $0 == "last" ? .end : try SourcePosition.argument($0) } }
  }

  func run() async throws {
    var options = ReverseOptions(
      encoding: EncodingOptions(framing: framing.framing), output: OutputOptions(overwrites: writing.overwrite),
      resources: machine.resources)
    if let fps = rate.fps { options.playback.sequenceRate = fps }
    let grab = FrameGrab(input, at: try positions, options: options)
    try await reporting.display.follow(grab.start(to: places[places.count - 1]), machine.memory)
  }
}
