import ArgumentParser
import Retrograde
import RetrogradeEngine

/// Option that prints a pipeline file.
struct PrintArguments: ParsableArguments {
  @Flag(help: "Instead of reversing, print a pipeline file with which `retrograde run` does the same.")
  var printPipeline = false
}

/// Option for the number of files or chunks reversed at once.
struct JobsArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Number of files (--into) or chunks (--work) to make at the same time, 1 to 1024. They share --memory. "
        + "(default: half the cores for files, all cores for chunks; fewer if --memory is small)",
      valueName: "n"))
  var jobs: Int?
}

/// Option for the folder in which chunks are stored.
struct WorkArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Reverse in chunks, which are kept in this folder. After an interruption, the same command resumes. "
        + "The folder is removed when OUTPUT is complete.", valueName: "folder"), completion: .directory)
  var work: String?
}

struct Reverse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Reverses a video or audio file: every frame and sample, last first.",
    discussion: """
      The extension of OUTPUT sets the container. Video: mp4, m4v, mov, mkv, webm, avi, ts, ogg or ogv. Audio: wav, \
      flac, mp3, m4a, m4b, opus, oga or mka. Animations: gif, webp or apng. A pattern such as 'out/%05d.png' writes \
      numbered images. The source's codecs are kept if the container can hold them.

      EXAMPLES
        retrograde reverse holiday.mp4 reversed.mp4
        retrograde reverse jump.mp4 boomerang.mp4 --loop ping-pong
        retrograde reverse talk.mp4 part.mp4 --start 1:02.5 --end 1:10
        retrograde reverse clip.mp4 loop.gif --fps 15 --width 480
        retrograde reverse *.mp4 --into reversed --name '{stem}-reversed.{ext}'
        retrograde reverse clip.mov exact.mkv --quality lossless
        retrograde reverse clip.mp4 story.mp4 --for instagram-story
        retrograde reverse jump.mp4 dance.mp4 --score '0..4 x0.5, hold 1, 4..0 x2'
        retrograde reverse morning.mp4 + evening.mov day.mp4
        retrograde reverse film.mkv out.mkv --work film.work
      """)

  // The help lists headings and options in the order of these properties.
  @OptionGroup var arguments: ReverseArguments

  @OptionGroup(title: "Output") var printing: PrintArguments

  @OptionGroup var files: FileArguments

  @OptionGroup(title: "Several files") var parallel: JobsArguments

  @OptionGroup(title: "Machine") var workFolder: WorkArguments

  @OptionGroup(title: "Machine") var length: ChunkLengthArguments

  var printPipeline: Bool { printing.printPipeline }
  var jobs: Int? { parallel.jobs }
  var work: String? { workFolder.work }

  func validate() throws {
    // Ignore wrong file names here; `run()` reports them. The parser must report an unknown option
    // first, because it takes the option's value for a file name.
    if let joined = try? files.list().inputs.first(where: { $0.count > 1 }) {
      let others = [("--into", files.into != nil), ("--work", work != nil), ("--print-pipeline", printPipeline)]
      if let other = others.first(where: \.1)?.0 {
        throw ValidationError(
          "\(joined.joined(separator: " + ")): \(other) can't be used with joined files; leave out \(other).")
      }
    }
    if printPipeline && work != nil {
      throw ValidationError("--work and --print-pipeline can't be used together: chunks need several pipelines.")
    }
    if work == nil && length.isSet { throw ValidationError("--chunks and --chunk-length need --work.") }
    if work == nil && files.into == nil && jobs != nil { throw ValidationError("--jobs needs --into or --work.") }
    if files.into != nil {
      let others = [
        ("--work", work != nil), ("--print-pipeline", printPipeline), ("--subtitles", arguments.subtitles != nil),
        ("--subtitles-output", arguments.subtitlesOutput != nil),
      ]
      if let other = others.first(where: \.1)?.0 {
        throw ValidationError("\(other) is for a single file, and can't be used with --into.")
      }
    }
    if let jobs, !(1...1024).contains(jobs) { throw ValidationError("--jobs must be 1 to 1024.") }
  }

  func run() async throws {
    let list = try files.list()
    if let folder = files.into {
      if let watched = files.watch { return try await watch(watched, into: folder) }
      return try await runAll(list.inputs.compactMap(\.first), into: folder)
    }
    guard let inputs = list.inputs.first, let output = list.output else { return }
    let reverser = arguments.reverser(inputs)
    if printPipeline {
      let pipelines = try await reverser.pipelines(to: output)
      for warning in pipelines.warnings { Terminal.error("retrograde: warning: \(warning.message.inOptions)") }
      Terminal.print(file: pipelines.file)
      return
    }
    let reversal =
      if let work {
        reverser.start(to: output, in: work, jobs: jobs, chunks: length.length)
      } else {
        reverser.start(to: output)
      }
    try await arguments.output.reporting.display.follow(reversal, arguments.source.machine.memory, work: work)
  }
}
