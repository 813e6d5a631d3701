import ArgumentParser
import Retrograde
import RetrogradeEngine

/// The source and the file to make, of commands that make one file of one source.
struct InputOutputArguments: ParsableArguments {
  @OptionGroup var from: InputArgument

  @OptionGroup var into: OutputArgument
}

/// Options of reversing sources: those of `reverse`, `split` and `submit`, but for the names of files.
struct ReverseArguments: ParsableArguments {
  @OptionGroup var source: SourceArguments

  @OptionGroup var output: OutputArguments

  @Option(help: .loop)
  var loop: Loop = .reverse

  @OptionGroup var score: ScoreArguments

  @OptionGroup var seam: SeamArguments

  @Option(
    help: ArgumentHelp(
      "mirror: each frame is shown as long as in the source; source: frame i starts when the source's frame i did.",
      valueName: "timing"))
  var timing: Timing = .mirror

  @Option(
    help: ArgumentHelp(
      "The most frames per second; those between are left out. Of numbered images: how fast they are shown (25).",
      valueName: "rate"))
  var fps: FrameRate?

  @Option(
    help: ArgumentHelp("Mirror this file of subtitles too (srt, vtt, …).", valueName: "file"), completion: .file())
  var subtitles: String?

  @Option(
    help: ArgumentHelp("Write the mirrored subtitles as a file of their own, .srt or .vtt.", valueName: "file"),
    completion: .file())
  var subtitlesOutput: String?

  @Option(
    help: ArgumentHelp(
      "Hear the audio of this file in place of the source's: once, forwards, from its start on.", valueName: "file"),
    completion: .file())
  var soundtrack: String?

  @Flag(
    help:
      "Carry what is played forwards as it is, without encoding it again: H.264, VP9, MJPEG or ProRes, in mp4, mov, mkv or webm."
  )
  var copyForward = false

  @Flag(
    help:
      "Decode and encode also where every packet is a frame by itself, which is turned round as it is in a container that takes it."
  )
  var reencode = false

  @Flag(help: "Compare the mirror with its source, as `retrograde verify` does, before it gets its name.")
  var verify = false

  func validate() throws {
    if copyForward && loop == .reverse { throw ValidationError("--copy-forward needs a --loop that plays forwards.") }
  }

  func reverser(_ input: String) -> Reverser { reverser([input]) }

  /// - Parameter inputs: files that are reversed as one.
  func reverser(_ inputs: [String]) -> Reverser {
    var options = source.options
    output.apply(to: &options)
    options.playback.timing = timing
    options.playback.loop = loop
    score.apply(to: &options.playback)
    seam.apply(to: &options.playback)
    options.encoding.copiesForward = copyForward
    options.encoding.reencodes = reencode
    options.output.isVerified = verify
    options.subtitles = subtitles
    options.soundtrack = soundtrack
    options.output.subtitles = subtitlesOutput
    options.playback.frameRate = inputs.contains(where: ImageSequence.isPattern) ? nil : fps
    if let fps { options.playback.sequenceRate = fps }
    return Reverser(inputs, options: options)
  }
}

/// How long chunks are.
struct ChunkLengthArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp("Cut it into so many chunks, or as many as there are groups of pictures.", valueName: "n")
  )
  var chunks: Int?

  @Option(
    help: ArgumentHelp(
      "How long a chunk is, about, in seconds (60): cuts are where groups of pictures begin.", valueName: "seconds"))
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
