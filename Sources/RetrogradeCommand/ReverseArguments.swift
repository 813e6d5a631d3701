import ArgumentParser
import Retrograde
import RetrogradeEngine

/// Source and output of commands with one of each.
struct InputOutputArguments: ParsableArguments {
  @OptionGroup var from: InputArgument

  @OptionGroup var into: OutputArgument
}

/// Options of reversing, except for file names: for `reverse`, `split` and `submit`.
struct ReverseArguments: ParsableArguments {
  // The help lists headings and options in this order.
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
      throw ValidationError("--copy-forward needs a --loop that plays forwards.")
    }
  }

  func reverser(_ input: String) -> Reverser { reverser([input]) }

  /// - Parameter inputs: files that are joined before reversing.
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

/// Frame rate of the output.
struct FrameRateArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Maximum frame rate, such as 15 or 30000/1001; surplus frames are dropped. For numbered images as input: their "
        + "frame rate. (default: no maximum; 25 for numbered images)", valueName: "rate"))
  var fps: FrameRate?
}

/// Option for audio from another file.
struct SoundtrackArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Replace the source's audio with that of this file. It is played once, forwards, from its start.",
      valueName: "file"), completion: .file())
  var soundtrack: String?
}

/// Option for the frame times in the output.
struct TimingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Frame times. mirror: each frame is shown as long as in the source; source: frames start at "
        + "the times of the source's frames, in order.", valueName: "timing"))
  var timing: Timing = .mirror
}

/// Options to copy packets or encode frames.
struct CodingArguments: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Copy the forward parts of --loop without encoding them: H.264, VP9, MJPEG or ProRes, in mp4, mov, mkv or "
        + "webm."))
  var copyForward = false

  @Flag(
    help: ArgumentHelp(
      "Decode and encode even if every packet is a frame by itself. Without it, such packets are reversed as they "
        + "are, if the container can hold them."))
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
  @Flag(help: "Compare the output with its source, as `retrograde verify` does; OUTPUT appears only if that succeeds.")
  var verify = false
}

/// Length of chunks.
struct ChunkLengthArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Number of chunks, 1 to 1000000; fewer if the source has fewer groups of pictures.", valueName: "n"))
  var chunks: Int?

  @Option(
    help: ArgumentHelp(
      "Approximate length of a chunk, 0.1 to 1000000 seconds. Chunks begin with a group of pictures. (default: 60)",
      valueName: "seconds"))
  var chunkLength: Double?

  func validate() throws {
    if chunks != nil && chunkLength != nil { throw ValidationError("--chunks and --chunk-length exclude each other.") }
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
