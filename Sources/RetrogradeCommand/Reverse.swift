import ArgumentParser
import Retrograde
import RetrogradeEngine

struct Reverse: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write the mirror of a file: every frame and every sample, last first.",
    discussion: """
      The container follows OUTPUT's extension: mp4, m4v, mov, mkv, webm, avi, ts, ogg, ogv; for audio wav, flac, mp3, \
      m4a, opus, oga, mka; for loops gif, webp, apng; numbered images as in 'out/%05d.png'. The codecs are the \
      source's own where the container takes them.

      EXAMPLES
        retrograde reverse holiday.mp4 yadiloh.mp4
        retrograde reverse clip.mov clip-reversed.mkv --quality lossless
        retrograde reverse talk.mp4 out.mp4 --start 1:02.5 --end 1:10
        retrograde reverse video.mkv out.mkv --memory 128MiB
        retrograde reverse song.mp3 gnos.flac
        retrograde reverse jump.mp4 boomerang.mp4 --loop ping-pong --count 3
        retrograde reverse clip.mp4 loop.gif --loop ping-pong --fps 15 --width 480
        retrograde reverse 'frames/%05d.png' out.mp4 --fps 25
        retrograde reverse clip.mp4 'out/%05d.png'
        retrograde reverse clip.mp4 out.mp4 --caption 'once more' --show-timecode
        retrograde reverse clip.mp4 silent.webm --no-audio --video-codec vp9
        cat clip.mp4 | retrograde reverse - out.mp4
        retrograde reverse clip.mp4 out.mp4 --print-pipeline
      """)

  @OptionGroup var source: SourceArguments

  @OptionGroup var output: OutputArguments

  @Option(help: .loop)
  var loop: Loop = .reverse

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

  @Flag(help: "Print the pipeline file that would do it, for `retrograde run`, and write nothing.")
  var printPipeline = false

  func validate() throws {
    if copyForward && loop == .reverse { throw ValidationError("--copy-forward needs a --loop that plays forwards.") }
    if copyForward && printPipeline { throw ValidationError("What --copy-forward does is not one pipeline.") }
  }

  func run() async throws {
    var options = source.options
    output.apply(to: &options)
    options.playback.timing = timing
    options.playback.loop = loop
    options.encoding.copiesForward = copyForward
    options.encoding.reencodes = reencode
    options.output.isVerified = verify
    options.subtitles = subtitles
    options.output.subtitles = subtitlesOutput
    options.playback.frameRate = ImageSequence.isPattern(source.input) ? nil : fps
    if let fps { options.playback.sequenceRate = fps }
    var reverser = Reverser(source.input, options: options)
    reverser.overlay = output.overlay
    if printPipeline {
      Terminal.print(file: try await reverser.pipelines(to: output.output).file)
      return
    }
    try await output.reporting.display.follow(reverser.start(to: output.output), source.machine.memory)
  }
}
