import Foundation
import GStreamer
import Retrograde
import TestSupport
import Testing

/// `--print-pipeline` with every other option of `reverse`. Either the printed pipeline writes the
/// same file, or nothing is printed.
@Suite struct PrintPipelineTests {
  /// Expected result of an option.
  enum Outcome: Sendable {
    /// The printed pipeline writes the same file.
    case same
    /// The command exits with status 64 and a message that contains these words.
    case refused(String)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var option: String
    /// The option, its value, and other options that it needs. FOLDER stands for the temporary
    /// folder.
    var arguments: [String]
    /// File name of the output; nil if the option takes the place of the output argument.
    var output: String?
    var outcome: Outcome

    init(_ option: String, _ arguments: String..., to output: String? = "o.mkv", outcome: Outcome = .same) {
      (self.option, self.arguments, self.output, self.outcome) = (option, arguments, output, outcome)
    }

    var testDescription: String { arguments.joined(separator: " ") }
  }

  private static let several = Outcome.refused("--into")
  private static let chunks = Outcome.refused("--work")

  static let cases: [Case] = [
    Case("into", "--into", "FOLDER", to: nil, outcome: several),
    Case("name", "--into", "FOLDER", "--name", "{stem}-r.{ext}", to: nil, outcome: several),
    Case("recursive", "--into", "FOLDER", "--recursive", to: nil, outcome: several),
    Case("watch", "--into", "FOLDER", "--watch", "FOLDER", to: nil, outcome: several),
    Case("stall-limit", "--into", "FOLDER", "--stall-limit", "60", to: nil, outcome: several),
    Case("memory", "--memory", "1MiB"), Case("spool-dir", "--spool-dir", "FOLDER"),
    Case("start", "--start", "0.4"), Case("start", "--start", "\"Two\"", to: "o.mp4"), Case("start", "--start", "6f"),
    Case("end", "--end", "0.7"), Case("no-audio", "--no-audio"), Case("no-video", "--no-video", to: "o.mka"),
    Case("streams", "--streams", "video,audio:1"), Case("streams", "--streams", "video,chapters", to: "o.mp4"),
    Case("strict", "--strict"), Case("overwrite", "--overwrite"), Case("format", "--format", "mp4", to: "o.film"),
    Case("quality", "--quality", "high", "--crf", "23"), Case("quality", "--quality", "lossless"),
    Case("video-codec", "--video-codec", "vp9"), Case("encoder", "--encoder", "x265enc"),
    Case("encoder-options", "--encoder-options", "key-int-max=5", outcome: .refused("--encoder-options")),
    Case("audio-codec", "--audio-codec", "flac"), Case("bitrate", "--bitrate", "200k"), Case("crf", "--crf", "30"),
    Case("preset", "--preset", "ultrafast"), Case("max-size", "--max-size", "1MB", outcome: .refused("--max-size")),
    Case("colors", "--colors", "16", to: "o.gif", outcome: .refused("can't print a pipeline")),
    Case("dither", "--dither", "none", to: "o.gif", outcome: .refused("can't print a pipeline")),
    Case("profile", "--profile", "video/quicktime,variant=iso:video/x-h264|presence=1", "--no-audio", to: "o.mp4"),
    Case("for", "--for", "discord", to: "o.mp4", outcome: .refused("--max-size")),
    Case("crop", "--crop", "40x40+10+10"), Case("rotate", "--rotate", "90"), Case("flip", "--flip", "horizontal"),
    Case("width", "--width", "64"), Case("height", "--height", "32"), Case("fit", "--fit", "64x64"),
    Case("pad", "--fit", "64x64", "--pad"), Case("alpha", "--alpha"), Case("deinterlace", "--deinterlace"),
    Case("count", "--count", "2"), Case("caption", "--caption", "words", outcome: .refused("--caption")),
    Case("caption-style", "--caption", "words", "--caption-style", "place=top", outcome: .refused("--caption")),
    Case("show-timecode", "--show-timecode", outcome: .refused("--show-timecode")),
    Case("progress", "--progress", "none"), Case("quiet", "--quiet"), Case("loop", "--loop", "ping-pong"),
    Case("score", "--score", "0..0.6, 0.6..0 x2"), Case("joint", "--score", "0..0.6, 0.2..1", "--joint", "0.02"),
    Case("dissolve", "--score", "0..0.6, 0.2..1", "--dissolve", "0.2"),
    Case("interpolate", "--score", "1..0 x0.5", "--interpolate", "blend"),
    Case("keep-pitch", "--score", "1..0 x2", "--keep-pitch"),
    Case("seam", "--loop", "ping-pong", "--count", "2", "--seam", "drop"), Case("timing", "--timing", "source"),
    Case("fps", "--fps", "5"), Case("subtitles", "--subtitles", "FOLDER/a.srt", outcome: .refused("--subtitles")),
    Case("subtitles-output", "--subtitles-output", "FOLDER/b.srt", outcome: .refused("--subtitles-output")),
    Case("soundtrack", "--soundtrack", "FOLDER/a.wav", outcome: .refused("--soundtrack")),
    Case("copy-forward", "--loop", "ping-pong", "--copy-forward", outcome: .refused("--copy-forward")),
    Case("reencode", "--reencode"), Case("verify", "--verify", outcome: .refused("--verify")),
    Case("work", "--work", "FOLDER/work", outcome: chunks), Case("jobs", "--jobs", "2", outcome: chunks),
    Case("chunks", "--chunks", "2", outcome: chunks), Case("chunk-length", "--chunk-length", "1", outcome: chunks),
    // The following cases write containers with all the metadata that they can contain.
    Case("print-pipeline", to: "o.mp4"), Case("print-pipeline", to: "o.mov"), Case("print-pipeline", to: "o.mkv"),
    Case("print-pipeline", to: "o.webm"), Case("print-pipeline", to: "o.ts"),
    // In Ogg, several streams of one kind have a random order, so this case has only one audio
    // stream.
    Case("print-pipeline", "--streams", "video,audio:0", to: "o.ogv"),
    Case("print-pipeline", "--streams", "audio:0,chapters", to: "o.m4b"),
    Case("print-pipeline", "--streams", "audio:0,chapters", to: "o.mp3"),
    Case("print-pipeline", "--streams", "audio:1,chapters", to: "o.flac"),
    Case("print-pipeline", "--streams", "audio:0,chapters", to: "o.wav"),
    Case("print-pipeline", "--no-video", to: "o.wav", outcome: .refused("--streams audio:0,chapters")),
  ]

  @Test("every option of reverse has a case")
  func everyOption() throws {
    let help = try Command.run(["reverse", "--experimental-dump-help"]).output
    struct Help: Decodable {
      struct Name: Decodable { var name: String }
      struct Argument: Decodable {
        var kind: String
        var names: [Name]?
      }
      struct Command: Decodable { var arguments: [Argument] }
      var command: Command
    }
    let arguments = try JSONDecoder().decode(Help.self, from: Data(help.utf8)).command.arguments
    let names = arguments.filter { $0.kind != "positional" }.map { Set(($0.names ?? []).map(\.name)) }
    let tested = Set(PrintPipelineTests.cases.map(\.option) + ["version", "help"])
    #expect(names.count > 50)
    for name in names { #expect(!name.isDisjoint(with: tested), "\(name)") }
    for option in tested { #expect(names.contains { $0.contains(option) }, "\(option)") }
  }

  /// Writes a source of twelve frames with two audio streams, chapters, names, languages and tags.
  /// Returns its path.
  static func writeSource(_ scratch: Scratch) throws -> String {
    let description = """
      ;FFMETADATA1
      title=A film
      artist=Somebody
      [CHAPTER]
      TIMEBASE=1/1000
      START=0
      END=500
      title=One
      [CHAPTER]
      TIMEBASE=1/1000
      START=500
      END=1200
      title=Two
      """
    try Data(description.utf8).write(to: URL(fileURLWithPath: scratch.path("source.txt")))
    let path = scratch.path("source.mkv")
    _ = try FFmpeg.bytes(
      [
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=1.2", "-f", "lavfi", "-i",
        "sine=frequency=300:sample_rate=48000:duration=1.2", "-f", "lavfi", "-i",
        "sine=frequency=900:sample_rate=48000:duration=1.2", "-i", scratch.path("source.txt"), "-map", "0", "-map", "1",
        "-map", "2", "-map_metadata", "3", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "2", "-g", "6", "-c:a",
        "aac",
      ] + [
        "-metadata:s:v:0", "title=Picture", "-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu",
        "-metadata:s:a:1", "title=Kommentar", "-disposition:a:0", "0", "-disposition:a:1", "default", path,
      ])
    return path
  }

  /// Returns the metadata of the output, and a checksum of each frame and each audio packet.
  private func content(_ scratch: Scratch) throws -> [String] {
    let path = scratch.path(try #require(scratch.names.first { $0.hasPrefix("o.") }))
    let description = try FFmpeg.lines(["-i", path, "-f", "ffmetadata", "-"])
    let media = try FFmpeg.lines(["-i", path, "-map", "0:v?", "-map", "0:a?", "-f", "framehash", "-"])
    let info = try Command.run(["info", path, "--json"])
    #expect(info.status == 0, "\(info.errors)")
    return (description + media + info.output.split(separator: "\n").map(String.init)).filter {
      // The value of "decoding" contains pad names, which are random numbers for Ogg.
      !$0.hasPrefix("creation_time=") && !$0.contains("\"decoding\"") && !$0.contains("date") && !$0.contains("bitrate")
    }
  }

  /// Runs the command on one processor, so x264 uses one thread. With an average bit rate and
  /// several threads, x264 writes different bytes in every run.
  private func onOneProcessor(_ arguments: [String]) throws -> Command.Result {
    let script = """
      exec taskset --cpu-list "$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\\([0-9]*\\).*/\\1/p' /proc/self/status)" "$0" "$@"
      """
    return try Command.run(["-c", script, Command.url.path] + arguments, of: URL(fileURLWithPath: "/bin/sh"))
  }

  @Test("a printed pipeline writes the same file, or nothing is printed", arguments: cases)
  func printed(_ given: Case) throws {
    let scratch = try Scratch()
    let source = try PrintPipelineTests.writeSource(scratch)
    let arguments =
      ["reverse"] + (given.option == "watch" ? [] : [source])
      + [given.output.map(scratch.path)].compactMap { $0 }
      + given.arguments.map { $0.replacing("FOLDER", with: scratch.url.path) } + given.steadyQuality
    let printed = try Command.run(arguments + ["--print-pipeline"])
    if case .refused(let words) = given.outcome {
      #expect(printed.status == 64 && printed.output.isEmpty)
      #expect(printed.errors.contains(words), "\(printed.errors)")
      return
    }
    try #require(printed.status == 0, "\(printed.errors)")
    let direct = try onOneProcessor(arguments)
    try #require(direct.status == 0, "\(direct.errors)")
    let wanted = try content(scratch)
    try Data(printed.output.utf8).write(to: URL(fileURLWithPath: scratch.path("a.pipeline")))
    let run = try onOneProcessor(["run", scratch.path("a.pipeline"), "-y"])
    try #require(run.status == 0, "\(run.errors)")
    let found = try content(scratch)
    #expect(wanted.count > 20)
    for line in wanted.difference(from: found) { Issue.record("\(line)") }
    let warnings = [printed, run].map { $0.errors.split(separator: "\n").filter { $0.contains("warning: ") } }
    for warning in direct.errors.split(separator: "\n") where warning.contains("warning: ") {
      // An encoding profile repeats frames (since 1.28, also the last one), so the direct run warns
      // about too many frames. `run` does not count the frames of a user's pipeline, and gives no
      // such warning.
      if given.option == "profile", warning.contains("too many") { continue }
      #expect(warnings.contains { $0.contains(warning) }, "\(warning)")
    }
  }
}

extension PrintPipelineTests.Case {
  /// Arguments that set a constant quality for x264; empty if the case sets a quality itself or
  /// does not use x264. With an average bit rate, the bytes depend on the progress of the
  /// lookahead, even on one processor.
  fileprivate var steadyQuality: [String] {
    let encodes = output.map { $0.hasSuffix(".mkv") || $0.hasSuffix(".mp4") } ?? false
    let own = [
      "--quality", "--crf", "--bitrate", "--encoder", "--video-codec", "--profile", "--for", "--max-size", "--no-video",
      "--into",
    ]
    return encodes && !arguments.contains(where: own.contains) ? ["--crf", "23"] : []
  }
}
