import ArgumentParser
import Retrograde
import RetrogradeEngine

struct Reverse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the mirror of a file: every frame and every sample, last first.",
    discussion: """
      The container follows OUTPUT's extension: mp4, m4v, mov, mkv, webm, avi, ts, ogg, ogv; for audio wav, flac, mp3, \
      m4a, m4b, opus, oga, mka; for loops gif, webp, apng; numbered images as in 'out/%05d.png'. The codecs are the \
      source's own where the container takes them.

      EXAMPLES
        retrograde reverse holiday.mp4 yadiloh.mp4
        retrograde reverse clip.mov clip-reversed.mkv --quality lossless
        retrograde reverse talk.mp4 out.mp4 --start 1:02.5 --end 1:10
        retrograde reverse video.mkv out.mkv --memory 128MiB
        retrograde reverse song.mp3 gnos.flac
        retrograde reverse jump.mp4 boomerang.mp4 --loop ping-pong --count 3
        retrograde reverse jump.mp4 dance.mp4 --score '0..4 x0.5, hold 0.8, 4..0 x2'
        retrograde reverse clip.mp4 loop.gif --loop ping-pong --fps 15 --width 480
        retrograde reverse 'frames/%05d.png' out.mp4 --fps 25
        retrograde reverse clip.mp4 'out/%05d.png'
        retrograde reverse clip.mp4 out.mp4 --caption 'once more' --show-timecode
        retrograde reverse clip.mp4 story.mp4 --crop 9:16 --fit 1080x1920
        retrograde reverse clip.mp4 story.mp4 --for instagram-story
        retrograde reverse clip.mp4 small.gif --max-size 5MB
        retrograde reverse clip.mp4 silent.webm --no-audio --video-codec vp9
        cat clip.mp4 | retrograde reverse - out.mp4
        retrograde reverse clip.mp4 - --format mkv | mpv -
        retrograde reverse clip.mp4 out.mp4 --print-pipeline
        retrograde reverse film.mkv out.mkv --work film.work
        retrograde reverse morning.mp4 + evening.mov day.mp4
        retrograde reverse *.mp4 --into mirrors --name '{stem}-reversed.{ext}'
        retrograde reverse --watch arriving --into mirrors
      """)

  @OptionGroup var files: FileArguments

  @OptionGroup var arguments: ReverseArguments

  @Flag(help: "Print the pipeline file that would do it, for `retrograde run`, and write nothing.")
  var printPipeline = false

  @Option(
    help: ArgumentHelp(
      "Make it in chunks, which wait in this folder: after any end, the same command goes on. The folder is gone when OUTPUT is whole.",
      valueName: "folder"), completion: .directory)
  var work: String?

  @Option(
    help: ArgumentHelp(
      "With --into: make so many files at once (half as many as there are cores); they share --memory. With --work: so many chunks.",
      valueName: "n"))
  var jobs: Int?

  @OptionGroup var length: ChunkLengthArguments

  func validate() throws {
    // Wrong names are an error of `run()`: an unknown option comes first, whose value counts as a name.
    if let joined = try? files.list().inputs.first(where: { $0.count > 1 }) {
      let others = [("--into", files.into != nil), ("--work", work != nil), ("--print-pipeline", printPipeline)]
      if let other = others.first(where: \.1)?.0 {
        throw ValidationError(
          "\(joined.joined(separator: " + ")): files that are joined have one mirror, without \(other).")
      }
    }
    if printPipeline && work != nil {
      throw ValidationError("--work makes a file in chunks, which is not one pipeline.")
    }
    if work == nil && length.isSet { throw ValidationError("--chunks and --chunk-length need --work.") }
    if work == nil && files.into == nil && jobs != nil { throw ValidationError("--jobs needs --into or --work.") }
    if files.into != nil {
      let others = [
        ("--work", work != nil), ("--print-pipeline", printPipeline), ("--subtitles", arguments.subtitles != nil),
        ("--subtitles-output", arguments.subtitlesOutput != nil),
      ]
      if let other = others.first(where: \.1)?.0 {
        throw ValidationError("\(other) is for one file, and --into for several.")
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
