import ArgumentParser
import Retrograde
import RetrogradeEngine

/// Output file of a command.
struct OutputArgument: ParsableArguments {
  @Argument(
    help: "Output file, which appears only when it is complete; or - for standard output, with --format.",
    completion: .file())
  var output: String
}

/// Output options that all commands for writing media files share. File names are not included.
struct OutputArguments: ParsableArguments {
  // The help lists headings and options in the order of these properties.
  @OptionGroup(title: "What to play") var repetition: CountArguments

  @OptionGroup(title: "Picture") var framing: FramingArguments

  @OptionGroup(title: "Picture") var drawing: DrawingArguments

  @OptionGroup(title: "Format and quality") var coding: FormatArguments

  @OptionGroup(title: "Output") var writing: OverwriteArguments

  @OptionGroup(title: "Output") var reporting: DisplayArguments

  func validate() throws {
    guard PlaybackLegs.counts.contains(repetition.count) else {
      throw ValidationError("--count must be \(PlaybackLegs.counts.lowerBound) to \(PlaybackLegs.counts.upperBound).")
    }
    if drawing.captionStyle != nil && drawing.caption == nil {
      throw ValidationError("--caption-style needs --caption.")
    }
    if coding.bitrate != nil && coding.crf != nil {
      throw ValidationError("--bitrate and --crf can't be used together.")
    }
    if coding.quality == .lossless && (coding.bitrate != nil || coding.crf != nil) {
      throw ValidationError("--quality lossless can't be used with --bitrate or --crf.")
    }
  }

  /// Copies the values of these options to `options`.
  func apply(to options: inout ReverseOptions) {
    options.playback.count = repetition.count
    options.output.overwrites = writing.overwrite
    options.lettering = lettering
    options.encoding = EncodingOptions(
      format: coding.format, quality: coding.quality, videoCodec: coding.videoCodec, audioCodec: coding.audioCodec,
      encoder: coding.encoder, encoderOptions: coding.encoderOptions?.values ?? [:], profile: coding.profile,
      bitrate: coding.bitrate?.bitsPerSecond, constantRateFactor: coding.crf, preset: coding.preset,
      framing: framing.framing, maxSize: coding.maxSize?.bytes, colors: coding.colors,
      dither: coding.dither?.level, keepsAlpha: coding.alpha, deinterlaces: drawing.deinterlace)
    coding.place?.apply(to: &options)
  }

  var lettering: Lettering {
    Lettering(
      caption: drawing.caption, captionStyle: drawing.captionStyle ?? CaptionStyle(),
      showsTimecode: drawing.showTimecode)
  }
}

/// Option for the number of times to play a loop.
struct CountArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Number of times to play the loop, 1 to 100000.", valueName: "n"))
  var count = 1
}

/// Options for text drawn into the video, and for deinterlacing.
struct DrawingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Text to show in the video, at the bottom unless --caption-style sets another place.", valueName: "text"))
  var caption: String?

  @Option(
    help: ArgumentHelp(
      "Style of the caption: any of 'font=Serif Bold, size=48, place=top, color=#ffcc00, outline=none, "
        + "box=#00000080, from=1, to=3.5'. Sizes are in pixels of the output, times in seconds of the output. "
        + "Places are top, middle, bottom, left, right, top-left, top-right, bottom-left or bottom-right.",
      valueName: "style"),
    transform: CaptionStyle.argument)
  var captionStyle: CaptionStyle?

  @Flag(help: "Show the source's time, and an arrow for the direction of play, in every frame.")
  var showTimecode = false

  @Flag(help: "Deinterlace: turn each interlaced frame into one progressive frame.")
  var deinterlace = false
}

/// Options for codecs and the file format.
struct FormatArguments: ParsableArguments {
  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Preset for a service, such as instagram-story, whatsapp, discord or slack. It sets the aspect ratio, frame "
        + "size, codecs and maximum file size; other options override it. `retrograde presets` lists the presets and "
        + "their limits.",
      valueName: "service"), completion: Completions.presets, transform: Preset.argument)
  var place: Preset?

  @Option(
    help: ArgumentHelp(
      "Format of the output, as an extension such as mkv, mp4, wav, y4m or ts. It overrides the extension of OUTPUT. "
        + "Required for standard output (-).", valueName: "format"))
  var format: String?

  @Option(
    help: ArgumentHelp(
      "source: looks like the source, at about the source's bit rate; high: the best picture, at whatever bit rate "
        + "that takes; "
        + "lossless: bit-exact. With lossless, mkv can hold every source; mp4, mov, ts and avi use H.264, and "
        + "refuse pixel formats that H.264 can't store exactly.", valueName: "quality"))
  var quality: EncodingOptions.Quality = .source

  @Option(
    help: ArgumentHelp(
      "Video codec, such as h264, hevc, vp9, av1, prores or ffv1; or GStreamer caps. "
        + "(default: the source's, if the container can hold it)", valueName: "codec"),
    completion: Completions.videoCodecs)
  var videoCodec: String?

  @Option(
    help: ArgumentHelp(
      "Video encoder: a GStreamer element such as vah264enc, nvh264enc or x265enc. "
        + "(default: the first that `retrograde codecs` lists for the codec)", valueName: "element"),
    completion: Completions.videoEncoders)
  var encoder: String?

  @Option(
    help: ArgumentHelp(
      "Properties of the video encoder, such as 'key-int-max=30 tune=zerolatency'; gst-inspect-1.0 lists them.",
      valueName: "name=value …"))
  var encoderOptions: EncoderOptions?

  @Option(
    help: ArgumentHelp(
      "Audio codec, such as aac, opus, flac, mp3 or pcm; or GStreamer caps. "
        + "(default: the source's, if the container can hold it)", valueName: "codec"),
    completion: Completions.audioCodecs)
  var audioCodec: String?

  @Option(help: ArgumentHelp("Video bit rate in bits per second, such as 4M or 800k.", valueName: "rate"))
  var bitrate: BitRate?

  @Option(
    help: ArgumentHelp("Constant quality instead of a bit rate: a number on the encoder's own scale.", valueName: "n"))
  var crf: Int?

  @Option(help: ArgumentHelp("Speed preset of the encoder, such as veryfast for x264enc.", valueName: "name"))
  var preset: String?

  @Option(
    help: ArgumentHelp(
      "Maximum file size, such as 5MB (5 million bytes), 800k or 8MiB. If needed, a GIF first loses colours, "
        + "and a WebP first loses quality; then both get narrower, and then lose frames. Other formats get lower bit "
        + "rates and smaller frames. "
        + "A warning says what was reduced.",
      valueName: "size"))
  var maxSize: FileSize?

  @Option(help: ArgumentHelp("Number of colours in a GIF, 2 to 256. (default: 256)", valueName: "n"))
  var colors: Int?

  @Option(
    help: ArgumentHelp(
      "Strength of the dithering in a GIF: 0 to 1, none (0) or floyd-steinberg (1). (default: 0.35)",
      valueName: "strength"))
  var dither: Dithering?

  @Option(
    help: ArgumentHelp(
      "GStreamer encoding profile, or the name of an encoding target. It replaces the options for format, codecs and "
        + "quality.", valueName: "profile"))
  var profile: String?

  @Flag(help: "Keep transparency in mkv, with FFV1 as video codec. In webp, apng and png it is always kept.")
  var alpha = false
}

extension CaptionStyle {
  /// Parses the argument of `--caption-style`.
  @Sendable static func argument(_ text: String) throws -> CaptionStyle {
    do {
      return try CaptionStyle(parsing: text)
    } catch let error as RetrogradeError {
      throw ValidationError(error.message.inOptions)
    }
  }
}

/// Encoder properties as `name=value`, separated by spaces; values with spaces are quoted.
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

/// File size limit in bytes.
struct FileSize: ExpressibleByArgument {
  var bytes: ByteCount

  init?(argument: String) {
    guard let bytes = ByteCount(decimal: argument) else { return nil }
    self.bytes = bytes
  }
}

/// Dithering of a GIF.
struct Dithering: ExpressibleByArgument {
  var level: Double

  init?(argument: String) {
    let named = ["none": 0.0, "floyd-steinberg": 1]
    guard let level = named[argument.lowercased()] ?? Double(decimal: argument), (0...1).contains(level) else {
      return nil
    }
    self.level = level
  }
}

/// Bit rate in bits per second, such as `4M`, `800k` or `2500000`.
struct BitRate: ExpressibleByArgument {
  var bitsPerSecond: Int

  init?(argument: String) {
    let units = ["k": 1000.0, "m": 1e6, "g": 1e9]
    let unit = argument.last.flatMap { units[$0.lowercased()] }
    guard let number = Double(decimal: unit == nil ? argument : String(argument.dropLast())), number.isFinite else {
      return nil
    }
    let rate = number * (unit ?? 1)
    guard rate >= 1000, rate < 1e12 else { return nil }
    bitsPerSecond = Int(rate)
  }
}
