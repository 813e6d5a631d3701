import ArgumentParser
import Retrograde
import RetrogradeEngine

/// The one file that a command makes.
struct OutputArgument: ParsableArguments {
  @Argument(
    help: "The file to make. It appears when it is whole. - is standard output, with --format.", completion: .file())
  var output: String
}

/// Options of every command that makes files, but for their names.
struct OutputArguments: ParsableArguments {
  @Flag(name: [.customShort("y"), .long], help: "Replace what is there already under an output's name.")
  var overwrite = false

  @Option(
    help: ArgumentHelp(
      "What to write, by its extension, in place of OUTPUT's own: mkv, mp4, wav, y4m, ts … For standard output (-).",
      valueName: "format"))
  var format: String?

  @Option(
    help: ArgumentHelp(
      "source: hard to tell from the source, at about its bit rate; high: at whatever rate that takes; lossless: "
        + "bit-exact. mkv holds every source; in mp4, mov, ts and avi, H.264 is refused for pixels that it can't hold exactly.",
      valueName: "quality"))
  var quality: EncodingOptions.Quality = .source

  @Option(help: ArgumentHelp("h264, hevc, vp9, av1, prores, ffv1 …, or GStreamer caps.", valueName: "codec"))
  var videoCodec: String?

  @Option(
    help: ArgumentHelp(
      "The encoder of the video, by its GStreamer name: vah264enc, nvh264enc, x265enc …; `retrograde codecs` lists them.",
      valueName: "element"))
  var encoder: String?

  @Option(
    help: ArgumentHelp(
      "Properties of the encoder, as gst-inspect-1.0 lists them: 'key-int-max=30 tune=zerolatency'.",
      valueName: "name=value …"))
  var encoderOptions: EncoderOptions?

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
      "The most that the file may have: 5MB (5 million bytes), 800k, 8MiB. Of GIF and WebP, colours, likeness, width and frames are "
        + "given up for it, in this order; of films with a bit rate, that, the picture's size and the audio's rate. It says what.",
      valueName: "size"))
  var maxSize: FileSize?

  @Option(help: ArgumentHelp("How many colours a GIF has, 2 to 256.", valueName: "n"))
  var colors: Int?

  @Option(
    help: ArgumentHelp(
      "How the colours of a GIF are mixed: none, floyd-steinberg, or how much of that, 0 to 1 (0.35).", valueName: "how"
    ))
  var dither: Dithering?

  @Option(
    help: ArgumentHelp(
      "A GStreamer encoding profile, or an encoding target's name, instead of all of the above.", valueName: "profile"))
  var profile: String?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Make it as a place takes it: instagram-story, whatsapp, discord, slack … Sets the picture's shape and size, the codecs and the most "
        + "that the file may have, but for what is said here; `retrograde presets` lists them with their limits.",
      valueName: "place"), transform: Preset.argument)
  var place: Preset?

  @OptionGroup var framing: FramingArguments

  @Flag(help: "Keep transparency in .mkv, where the video becomes FFV1. .webp, .apng and .png always keep it.")
  var alpha = false

  @Flag(help: "Make whole frames of interlaced ones.")
  var deinterlace = false

  @Option(help: ArgumentHelp("How often the loop is played.", valueName: "n"))
  var count = 1

  @Option(
    help: ArgumentHelp(
      "Text to show in the picture, at its lower edge unless --caption-style says otherwise.", valueName: "text"))
  var caption: String?

  @Option(
    help: ArgumentHelp(
      "How the caption looks, where it stands and when: 'font=Serif Bold, size=48, place=top, color=#ffcc00, outline=none, "
        + "box=#00000080, from=1, to=3.5', or any of them. Sizes are pixels of the output, times seconds of it; places are "
        + "top, middle, bottom, left, right, top-left, top-right, bottom-left, bottom-right.", valueName: "style"),
    transform: CaptionStyle.argument)
  var captionStyle: CaptionStyle?

  @Flag(help: "Show the source's time, and an arrow in the direction of play, in every frame.")
  var showTimecode = false

  @OptionGroup var reporting: DisplayArguments

  func validate() throws {
    guard PlaybackLegs.counts.contains(count) else {
      throw ValidationError("--count must be \(PlaybackLegs.counts.lowerBound) to \(PlaybackLegs.counts.upperBound).")
    }
    if captionStyle != nil && caption == nil { throw ValidationError("--caption-style needs --caption.") }
    if bitrate != nil && crf != nil { throw ValidationError("--bitrate and --crf exclude each other.") }
    if quality == .lossless && (bitrate != nil || crf != nil) {
      throw ValidationError("--quality lossless leaves nothing for --bitrate or --crf to choose.")
    }
  }

  /// Sets these options in `options`.
  func apply(to options: inout ReverseOptions) {
    options.playback.count = count
    options.output.overwrites = overwrite
    options.lettering = lettering
    options.encoding = EncodingOptions(
      format: format, quality: quality, videoCodec: videoCodec, audioCodec: audioCodec, encoder: encoder,
      encoderOptions: encoderOptions?.values ?? [:], profile: profile, bitrate: bitrate?.bitsPerSecond,
      constantRateFactor: crf, preset: preset, framing: framing.framing,
      maxSize: maxSize?.bytes, colors: colors, dither: dither?.level, keepsAlpha: alpha,
      deinterlaces: deinterlace)
    place?.apply(to: &options)
  }

  var lettering: Lettering {
    Lettering(caption: caption, captionStyle: captionStyle ?? CaptionStyle(), showsTimecode: showTimecode)
  }
}

extension CaptionStyle {
  /// Reads an argument.
  @Sendable static func argument(_ text: String) throws -> CaptionStyle {
    do {
      return try CaptionStyle(parsing: text)
    } catch let error as RetrogradeError {
      throw ValidationError(error.message.inOptions)
    }
  }
}

/// Properties and their values, `name=value`, with spaces between; quotes hold a value together that has
/// spaces in it.
struct EncoderOptions: ExpressibleByArgument {
  var values: [String: String] = [:]

  init?(argument: String) {
    for word in DescriptionWords.all(in: argument) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else { return nil }
      values[String(parts[0])] = String(parts[1].filter { $0 != "\"" && $0 != "'" })
    }
    guard !values.isEmpty else { return nil }
  }
}

/// A number of bytes, as limits of files are given.
struct FileSize: ExpressibleByArgument {
  var bytes: ByteCount

  init?(argument: String) {
    guard let bytes = ByteCount(decimal: argument) else { return nil }
    self.bytes = bytes
  }
}

/// How the colours of a GIF are mixed.
struct Dithering: ExpressibleByArgument {
  var level: Double

  init?(argument: String) {
    let named = ["none": 0.0, "floyd-steinberg": 1]
    guard let level = named[argument.lowercased()] ?? Double(argument), (0...1).contains(level) else { return nil }
    self.level = level
  }
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
