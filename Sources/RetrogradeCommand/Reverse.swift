import ArgumentParser
import Retrograde

struct Reverse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the mirror of a file: every frame and every sample, last first.",
    discussion: """
      The container follows OUTPUT's extension: mp4, m4v, mov, mkv, webm, avi, ts, ogg, ogv; for sound wav, flac, mp3, \
      m4a, opus, oga, mka; for loops gif, webp, apng; numbered pictures as in 'out/%05d.png'. The codecs are the source's own where the container takes them.

      EXAMPLES
        retrograde reverse holiday.mp4 yadiloh.mp4
        retrograde reverse clip.mov clip-reversed.mkv --quality lossless
        retrograde reverse talk.mp4 out.mp4 --start 1:02.5 --end 1:10
        retrograde reverse film.mkv out.mkv --memory 128MiB
        retrograde reverse song.mp3 gnos.flac
        retrograde reverse jump.mp4 boomerang.mp4 --loop ping-pong --count 3
        retrograde reverse clip.mp4 loop.gif --loop ping-pong --fps 15 --width 480
        retrograde reverse 'frames/%05d.png' out.mp4 --fps 25
        retrograde reverse clip.mp4 'out/%05d.png'
        retrograde reverse clip.mp4 silent.webm --no-audio --video-codec vp9
        cat clip.mp4 | retrograde reverse - out.mp4
        retrograde reverse clip.mp4 out.mp4 --print-pipeline
      """)

  @OptionGroup var source: SourceArguments

  @Argument(help: "The file to make. It appears when it is whole.", completion: .file())
  var output: String

  @Flag(name: [.customShort("y"), .long], help: "Replace OUTPUT if it exists.")
  var overwrite = false

  @Option(
    help: ArgumentHelp(
      "source: hard to tell from the source, at about its bit rate; high: at whatever rate that takes; lossless: "
        + "bit-exact, in mkv or mov.", valueName: "quality"))
  var quality: EncodingOptions.Quality = .source

  @Option(help: ArgumentHelp("h264, hevc, vp9, av1, prores, ffv1 …, or GStreamer caps.", valueName: "codec"))
  var videoCodec: String?

  @Option(help: ArgumentHelp("aac, opus, flac, mp3, pcm …, or GStreamer caps.", valueName: "codec"))
  var audioCodec: String?

  @Option(help: ArgumentHelp("Bits per second of the video: 4M, 800k.", valueName: "rate"))
  var bitrate: BitRate?

  @Option(help: ArgumentHelp("Constant quality instead of a bit rate, on the encoder's own scale.", valueName: "n"))
  var crf: Int?

  @Option(help: ArgumentHelp("One of the encoder's own speed presets.", valueName: "name"))
  var preset: String?

  @Option(
    help: ArgumentHelp(
      "A GStreamer encoding profile, or an encoding target's name, instead of all of the above.", valueName: "profile"))
  var profile: String?

  @Option(
    help: ArgumentHelp(
      "mirror: each frame is shown as long as in the source; source: frame i starts when the source's frame i did.",
      valueName: "timing"))
  var timing: Timing = .mirror

  @Option(
    help: ArgumentHelp(
      "reverse; ping-pong: forwards, then back; reverse-forward: back, then forwards; forward. At a turn the frame is "
        + "shown once, and the sound loses the same stretch.", valueName: "order"))
  var loop: Loop = .reverse

  @Option(help: ArgumentHelp("How often the loop is played.", valueName: "n"))
  var count = 1

  @Option(
    help: ArgumentHelp(
      "drop leaves out the last frame of all where it is the first one again: for files that players repeat, as they do "
        + "GIF, WebP and APNG by themselves.", valueName: "keep|drop"))
  var seam: Seam?

  @Option(
    help: ArgumentHelp(
      "The most frames per second; those between are left out. Of numbered pictures: how fast they are shown (25).",
      valueName: "rate"))
  var fps: FrameRate?

  @Option(help: ArgumentHelp("The width of the picture, as shown, in pixels; the height follows.", valueName: "pixels"))
  var width: Int?

  @Option(help: ArgumentHelp("line, json (an object a line on standard error), or none.", valueName: "form"))
  var progress: ProgressForm?

  @Flag(help: "Say nothing but errors.")
  var quiet = false

  @Flag(help: "Print the pipeline file that would do it, for `retrograde run`, and write nothing.")
  var printPipeline = false

  func validate() throws {
    guard Legs.counts.contains(count) else {
      throw ValidationError("--count must be \(Legs.counts.lowerBound) to \(Legs.counts.upperBound).")
    }
    if let width, !(2...16_384).contains(width) { throw ValidationError("--width must be 2 to 16384.") }
    if bitrate != nil && crf != nil { throw ValidationError("--bitrate and --crf exclude each other.") }
    if quality == .lossless && (bitrate != nil || crf != nil) {
      throw ValidationError("--quality lossless leaves nothing for --bitrate or --crf to choose.")
    }
  }

  func run() async throws {
    var options = source.options
    options.timing = timing
    options.loop = loop
    options.count = count
    options.dropsSeam = seam.map { $0 == .drop }
    options.frameRate = ImageSequence.isPattern(source.input) ? nil : fps
    if let fps { options.sequenceRate = fps }
    options.encoding.width = width
    options.overwrites = overwrite
    options.encoding.quality = quality
    options.encoding.videoCodec = videoCodec
    options.encoding.audioCodec = audioCodec
    options.encoding.bitrate = bitrate?.bitsPerSecond
    options.encoding.constantRateFactor = crf
    options.encoding.preset = preset
    options.encoding.profile = profile
    let reverser = Reverser(source.input, options: options)
    if printPipeline {
      print(try await reverser.pipelines(to: output).file, terminator: "")
      return
    }
    try await ProgressDisplay(quiet ? .none : progress ?? (Terminal.isInteractive ? .line : .none)).follow(
      reverser.start(to: output), source.memory, isQuiet: quiet)
  }
}

/// What becomes of the frame at the seam between the end of a file and its start, where a player repeats it.
enum Seam: String, ExpressibleByArgument, CaseIterable {
  case keep, drop
}

/// A number of bits per second: `4M`, `800k`, `2500000`.
struct BitRate: ExpressibleByArgument {
  var bitsPerSecond: Int

  init?(argument: String) {
    let units = ["k": 1000.0, "m": 1e6, "g": 1e9]
    let unit = argument.last.flatMap { units[$0.lowercased()] }
    guard let number = Double(unit == nil ? argument : String(argument.dropLast())), number.isFinite else { return nil }
    let rate = number * (unit ?? 1)
    guard rate >= 1000, rate < 1e12 else { return nil }
    bitsPerSecond = Int(rate)
  }
}
