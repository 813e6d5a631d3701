import ArgumentParser
import Retrograde
import RetrogradeEngine

/// Source and output of `work split` and `work submit`.
struct ChunkedFileArguments: ParsableArguments {
  @Argument(help: "Source: a file that all processes can open.", completion: .file())
  var input: String

  @Argument(help: "Output file, which `retrograde work join` writes.", completion: .file())
  var output: String
}

/// Options of `reverse`, `split` and `submit`, except for file names.
struct ReverseArguments: ParsableArguments {
  // The help lists headings and options in the order of these properties.
  @OptionGroup(title: "What to play") var order: LoopArguments

  @OptionGroup(title: "Picture") var rate: FrameRateArguments

  @OptionGroup(title: "Sound") var sound: SoundtrackArguments

  @OptionGroup var output: OutputArguments

  @OptionGroup var score: ScoreArguments

  @OptionGroup(title: "What to play") var seam: SeamArguments

  @OptionGroup(title: "What to play") var frameTimes: TimingArguments

  @OptionGroup(title: "Format and quality") var coding: CodingArguments

  @OptionGroup(title: "Output") var subtitleFiles: SubtitleArguments

  @OptionGroup(title: "Output") var check: CheckArguments

  @OptionGroup var source: SourceArguments

  var subtitles: String? { subtitleFiles.subtitles }
  var subtitlesOutput: String? { subtitleFiles.subtitlesOutput }

  func validate() throws {
    if coding.copyForward && order.loop == .reverse {
      throw ValidationError("--copy-forward needs a --loop that plays forwards, such as --loop ping-pong.")
    }
  }

  func reverser(_ input: String) -> Reverser { reverser([input]) }

  /// Creates a reverser with these options.
  /// - Parameter inputs: files to join before reversing.
  func reverser(_ inputs: [String]) -> Reverser {
    var options = source.options
    output.apply(to: &options)
    options.playback.timing = frameTimes.timing
    options.playback.loop = order.loop
    score.apply(to: &options.playback)
    seam.apply(to: &options.playback)
    options.encoding.copiesForward = coding.copyForward
    options.encoding.reencodes = coding.reencode
    options.output.isVerified = check.verify
    options.subtitles = subtitles
    options.soundtrack = sound.soundtrack
    options.output.subtitles = subtitlesOutput
    options.playback.frameRate = inputs.contains(where: ImageSequence.isPattern) ? nil : rate.fps
    if let fps = rate.fps { options.playback.sequenceRate = fps }
    return Reverser(inputs, options: options)
  }
}

/// Option for the output's frame rate.
struct FrameRateArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Maximum frame rate, such as 15 or 30000/1001; surplus frames are dropped. If INPUT is numbered images, this is "
        + "their frame rate instead. (default: no maximum; 25 for numbered images)", valueName: "rate"))
  var fps: FrameRate?
}

/// Option for audio from another file.
struct SoundtrackArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Replace the source's audio with the audio of this file, which is played once and forwards.",
      valueName: "file"), completion: .file())
  var soundtrack: String?
}

/// Option for the frame times in the output.
struct TimingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Frame times. mirror: each frame keeps its duration from the source; source: the output's first frame starts at "
        + "the time of the source's first frame, the second at the time of the second, and so on.",
      valueName: "timing"))
  var timing: Timing = .mirror
}

/// Options for copying packets and for encoding frames.
struct CodingArguments: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Copy the parts of --loop that play forwards, without encoding them. The video must be H.264, VP9, MJPEG or "
        + "ProRes, and OUTPUT mp4, mov, mkv or webm."))
  var copyForward = false

  @Flag(
    help: ArgumentHelp(
      "Always decode and encode the video. Without this option, video in which every frame is a keyframe is reversed "
        + "without decoding, if the container can hold it."))
  var reencode = false
}

/// Options for subtitle files.
struct SubtitleArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp("Also reverse this subtitle file (srt, vtt, …).", valueName: "file"), completion: .file())
  var subtitles: String?

  @Option(
    help: ArgumentHelp("Write the reversed subtitles to this file, .srt or .vtt.", valueName: "file"),
    completion: .file())
  var subtitlesOutput: String?
}

/// Option that checks the output.
struct CheckArguments: ParsableArguments {
  @Flag(help: "Check the output against its source, as `retrograde verify` does. OUTPUT appears only if it passes.")
  var verify = false
}

/// Option for the length of chunks.
struct ChunkLengthArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Number of chunks of the video, 1 to 1000000; fewer if it has fewer groups of pictures. Each audio stream is "
        + "one more chunk.", valueName: "n"))
  var chunks: Int?

  @Option(
    help: ArgumentHelp(
      "Approximate length of a chunk, 0.1 to 1000000 seconds. Chunks are whole groups of pictures. (default: 60)",
      valueName: "seconds"))
  var chunkLength: Double?

  func validate() throws {
    if chunks != nil && chunkLength != nil {
      throw ValidationError("--chunks and --chunk-length can't be used together.")
    }
    if let chunks, !(1...1_000_000).contains(chunks) { throw ValidationError("--chunks must be 1 to 1000000.") }
    if let chunkLength, !(0.1...1e6).contains(chunkLength) {
      throw ValidationError("--chunk-length must be 0.1 to 1000000 seconds.")
    }
  }

  var isSet: Bool { chunks != nil || chunkLength != nil }

  var length: ChunkLength {
    chunks.map(ChunkLength.count) ?? chunkLength.map { .about(.seconds($0)) } ?? .usual
  }
}
