import Foundation
import GStreamer
import Retrograde
import TestSupport
import Testing

/// Runs the command as a user does.
struct Command {
  /// URL of the command, which is beside the test bundle, because SwiftPM builds all products into
  /// one folder.
  static let url = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
    path: "retrograde")

  struct Result {
    var status: Int32
    var output: String
    var errors: String

    init(_ ending: Program.Ending) { (status, output, errors) = (ending.status, ending.text, ending.errors) }
  }

  /// Runs the command, and waits for its end.
  /// - Parameters:
  ///   - program: the program to run instead of the command.
  ///   - output: file for standard output, which is then not part of the result.
  ///   - whileRunning: called with the process, and with a function that reads the next line of its
  ///     standard error.
  static func run(
    _ arguments: [String], of program: URL = url, input: FileHandle? = nil, output given: FileHandle? = nil,
    environment: [String: String]? = nil,
    whileRunning: ((Process, () -> String?) -> Void)? = nil
  ) throws -> Result {
    let started = try Program(
      program.path, arguments, environment: environment ?? ProcessInfo.processInfo.environment, input: input,
      output: given)
    whileRunning?(started.process, started.errorLine)
    return Result(started.end())
  }

  /// Makes a clip with gst-launch-1.0.
  static func makeClip(_ path: String, frames: Int = 60, size: String = "160,height=120") throws {
    let arguments =
      [
        "-q", "videotestsrc", "num-buffers=\(frames)", "!", "video/x-raw,width=\(size),framerate=30/1", "!",
        "x264enc", "speed-preset=superfast",
      ]
      + ["key-int-max=15", "!", "h264parse", "!", "queue", "!", "mux.", "audiotestsrc", "num-buffers=\(frames)"]
      + [
        "samplesperbuffer=1600", "!", "audio/x-raw,rate=48000,channels=2", "!", "avenc_aac", "!", "aacparse", "!",
        "queue",
      ]
      + ["!", "mux.", "mp4mux", "name=mux", "!", "filesink", "location=\(path)"]
    _ = try Program.succeed("/usr/bin/gst-launch-1.0", arguments)
  }
}

extension FileManager {
  /// Returns the running child processes of `process`.
  func children(of process: Int32) -> [Int32] {
    let names = (try? contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return names.flatMap { thread in
      ((try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? "")
        .split(separator: " ").compactMap { Int32($0) }
    }
  }

  /// Returns true if a process has `path` open.
  func hasOpen(_ path: String, _ process: Int32) -> Bool {
    let folder = "/proc/\(process)/fd"
    return (try? contentsOfDirectory(atPath: folder))?.contains {
      (try? destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
    } ?? false
  }
}

final class Scratch: Sendable {
  let url: URL
  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "retrograde-command-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }
  deinit { try? FileManager.default.removeItem(at: url) }
  func path(_ name: String) -> String { url.appending(path: name).path }
  var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []) }
}

@Suite struct CommandTests {
  @Test("reverse writes the output and reports its frames")
  func reverseClip() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let result = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.mp4")])
    #expect(result.status == 0)
    #expect(result.errors.contains("60 frames"))
    #expect(scratch.names == ["a.mp4", "b.mp4"])
  }

  private static let waiting: [([String], Int32, Int32)] = [
    (["reverse", "IN", "OUT"], SIGINT, 130), (["reverse", "IN", "OUT"], SIGTERM, 143), (["info", "IN"], SIGTERM, 143),
    (["play", "IN", "--video-sink", "fakesink", "--audio-sink", "fakesink"], SIGTERM, 143),
    (["play", "IN", "--video-sink", "fakesink", "--audio-sink", "fakesink"], SIGINT, 130),
  ]

  /// The pipe has no writer, so the command waits until a signal arrives.
  @Test("a signal ends the wait for an idle pipe", arguments: waiting)
  func idlePipe(arguments: [String], number: Int32, status: Int32) throws {
    let scratch = try Scratch()
    try #require(mkfifo(scratch.path("in.mp4"), 0o600) == 0)
    let names = ["IN": scratch.path("in.mp4"), "OUT": scratch.path("out.mp4")]
    let result = try Command.run(arguments.map { names[$0] ?? $0 }) { process, _ in
      // A command that has opened the pipe waits for data.
      while !FileManager.default.hasOpen(names["IN"] ?? "", process.processIdentifier), process.isRunning {}
      kill(process.processIdentifier, number)
    }
    #expect(result.status == status, "\(result.errors)")
    #expect(result.errors.contains("interrupted: no output was made") == (arguments[0] == "reverse"))
    #expect(scratch.names == ["in.mp4"])
  }

  private static let messages: [([String], Int32, [String])] = [
    (["info", "http://127.0.0.1:1/a.mp4"], 66, ["http://127.0.0.1:1/a.mp4: the download failed"]),
    (["info", "ftp://example.invalid/a.mp4"], 66, ["a URL of an unsupported kind", "only http, https and file"]),
    (["info", "file:///nobody/has/a.mp4"], 66, ["No such file"]),
    (["info", "LIST"], 65, ["is a playlist", "outside its own folder: http://example.invalid/0.ts"]),
    (["info", "ADDRESSES"], 65, ["only the names of other files or URLs, which are not opened"]),
    (["info", "SESSION"], 65, ["only the names of other files or URLs, which are not opened"]),
    (["info", "MIDI"], 65, ["or in a format that GStreamer"]),
    (["reverse", "CLIP", "out.mp4", "--score", "@/dev/zero"], 64, ["/dev/zero can't be read: File too large"]),
    (["reverse", "LIST", "-"], 64, ["standard output", "--format mkv"]),
    (["reverse", "LIST", "-", "--format", "xyz"], 64, ["--format xyz", "mkv"]),
    (["reverse", "LIST", "f-%02d.png", "--format", "png"], 64, ["leave out --format"]),
    (["reverse", "CLIP", "-", "--format", "mkv", "--print-pipeline"], 64, ["give an output file"]),
    (["reverse", "CLIP", "-", "--format", "mkv", "--work", "w"], 64, ["standard output", "give an output file"]),
    (["reverse", "LIST", "out.mp4", "--start", "-1"], 64, ["“-1”", "is not a position in the source"]),
    (["play", "LIST", "--end=-1"], 64, ["“-1”", "is not a position in the source"]),
    (["play", "CLIP", "--video-sink", "nosuch"], 69, ["“nosuch” can't show the video"]),
    (
      ["play", "CLIP", "--video-sink", "fakesink", "--audio-sink", "alsasink device=nosuch"], 69,
      ["no audio device can be opened", "fakesink sync=true"]
    ),
  ]

  @Test("messages name the problem and the remedy", arguments: messages)
  func errorMessages(arguments: [String], status: Int32, words: [String]) throws {
    let scratch = try Scratch()
    let texts = [
      "LIST": "#EXTM3U\n#EXTINF:5,\nhttp://example.invalid/0.ts\n",
      "ADDRESSES": "http://example.invalid/a.mp4\nhttp://example.invalid/b.mp4\n",
      "SESSION": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 5004 RTP/AVP 96\n",
      "MIDI": "MThd\0\0\0\u{6}\0\0\0\u{1}\0`MTrk\0\0\0\u{8}\0@\u{40}@\0\u{7F}/\0",
    ]
    let names = ["CLIP": scratch.path("a.mp4")].merging(texts.keys.map { ($0, scratch.path($0)) }) { $1 }
    for (name, text) in texts { try Data(text.utf8).write(to: scratch.url.appending(path: name)) }
    if arguments.contains("CLIP") { try Command.makeClip(scratch.path("a.mp4"), frames: 5) }
    let result = try Command.run(arguments.map { names[$0] ?? $0 })
    #expect(result.status == status)
    for word in words { #expect(result.errors.contains(word), "\(result.errors)") }
  }

  @Test("video that starts late, and subtitles that end together, pass --verify --strict")
  func lateVideo() throws {
    let scratch = try Scratch()
    let cues = "1\n00:00:00,100 --> 00:00:01,000\nA\n\n2\n00:00:00,400 --> 00:00:01,000\nB\n"
    try Data(cues.utf8).write(to: scratch.url.appending(path: "a.srt"))
    let inputs = [
      "-f", "lavfi", "-itsoffset", "0.7", "-i", "testsrc2=d=1:r=12:s=160x120", "-f", "lavfi", "-i", "sine=d=1.7", "-i",
      scratch.path("a.srt"),
    ]
    for (name, subtitles) in [("a.mp4", "mov_text"), ("a.mkv", "srt")] {
      _ = try FFmpeg.bytes(inputs + ["-c:v", "libx264", "-c:a", "aac", "-c:s", subtitles, scratch.path(name)])
      let result = try Command.run(["reverse", scratch.path(name), scratch.path("o-\(name)"), "--verify", "--strict"])
      #expect(result.status == 0, "\(result.errors)")
    }
  }

  @Test("an existing output is refused without --overwrite")
  func existingOutput() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    try Data("mine".utf8).write(to: scratch.url.appending(path: "b.mp4"))
    let refused = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.mp4")])
    #expect(refused.status == 73)
    #expect(refused.errors.contains("--overwrite"))
    #expect(try Data(contentsOf: scratch.url.appending(path: "b.mp4")) == Data("mine".utf8))
    #expect(try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--overwrite"]).status == 0)
  }

  @Test("the input is refused as output, also through a link")
  func inputAsOutput() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("l.mp4"), withDestinationPath: scratch.path("a.mp4"))
    for name in ["a.mp4", "l.mp4"] {
      let result = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path(name), "--overwrite"])
      #expect(result.status == 73)
      #expect(result.errors.contains("is the input itself"))
    }
  }

  @Test("each kind of unusable input has its own exit status")
  func unusableInputs() throws {
    let scratch = try Scratch()
    let output = scratch.path("o.mp4")
    #expect(try Command.run(["reverse", scratch.path("none.mp4"), output]).status == 66)
    try Data("This is not media.\n".utf8).write(to: scratch.url.appending(path: "text.mp4"))
    #expect(try Command.run(["reverse", scratch.path("text.mp4"), output]).status == 65)
    try Data().write(to: scratch.url.appending(path: "empty.mp4"))
    #expect(try Command.run(["reverse", scratch.path("empty.mp4"), output]).status == 65)
    #expect(try Command.run(["reverse", scratch.url.path, output]).status == 66)
    #expect(scratch.names == ["text.mp4", "empty.mp4"], "no output is left behind")
  }

  @Test(
    "wrong arguments exit with status 64",
    arguments: [
      ["reverse"], ["reverse", "a.mp4", "b.mp4", "--memory", "lots"],
      ["reverse", "a.mp4", "b.mp4", "--crf", "20", "--bitrate", "1M"],
      ["reverse", "a.mp4", "b.mp4", "--start", "yesterday"], ["sideways"],
      ["reverse", "a.mp4", "b.mp4", "--count", "9223372036854775807"],
    ])
  func wrongArguments(arguments: [String]) throws {
    #expect(try Command.run(arguments).status == 64)
  }

  @Test("an unknown extension lists the known ones")
  func unknownExtension() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 2)
    let result = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.xyz")])
    #expect(result.status == 64)
    #expect(result.errors.contains("mkv"))
  }

  @Test("reverse reads standard input")
  func standardInput() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let input = try FileHandle(forReadingFrom: scratch.url.appending(path: "a.mp4"))
    let result = try Command.run(["reverse", "-", scratch.path("b.mp4")], input: input)
    #expect(result.status == 0)
    #expect(result.errors.contains("60 frames"))
  }

  @Test("a signal ends the run and leaves no files")
  func signals() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 3000)
    let arguments = [
      "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--progress", "json", "--preset", "veryslow",
    ]
    for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ] {
      let result = try Command.run(arguments) { process, _ in
        // The first byte of progress shows that the work has begun.
        _ = (process.standardError as? Pipe)?.fileHandleForReading.readData(ofLength: 1)
        kill(process.processIdentifier, signal)
      }
      #expect(result.status == 128 + signal)
      #expect(result.errors.contains("\"status\":\(128 + signal)"), "\(result.errors.suffix(300))")
      #expect(scratch.names == ["a.mp4"])
    }
  }

  @Test("a crash in a plugin ends with a message and status 70", arguments: [SIGSEGV, SIGABRT])
  func pluginCrash(signal: Int32) throws {
    let scratch = try Scratch()
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_BACKTRACE"] = nil
    let arguments = [
      "capture", scratch.path("b.mp4"), "--source", "videotestsrc is-live=true", "--progress", "json", "--frames",
      "900",
    ]
    let result = try Command.run(arguments, environment: environment) { process, line in
      _ = line()  // the work has begun
      kill(process.processIdentifier, signal)
    }
    #expect(result.status == 70)
    #expect(result.errors.contains("retrograde: crashed") && result.errors.contains("signal \(signal)"))
  }

  /// Returns an MP4 with nested boxes. qtdemux calls itself for each level, so many levels overflow
  /// its stack.
  private static func nestedMovie(_ levels: Int) -> Data {
    let type = Array("ftyp".utf8) + Array("isom".utf8) + [0, 0, 0, 0]
    func header(_ size: Int, _ name: String) -> [UInt8] {
      withUnsafeBytes(of: UInt32(size).bigEndian, Array.init) + Array(name.utf8)
    }
    let boxes = (0..<levels).flatMap { header(8 * (levels - $0), "udta") }
    return Data(header(8 + type.count - 4, "ftyp") + type.dropFirst(4) + header(8 + boxes.count, "moov") + boxes)
  }

  @Test("a header nested 100,000 levels deep ends with a message")
  func nestedHeader() throws {
    let scratch = try Scratch()
    let path = scratch.path("a.mp4")
    try Self.nestedMovie(100_000).write(to: URL(fileURLWithPath: path))
    let refused = try Command.run(["info", path])
    #expect(refused.status == 65 && refused.errors.contains("1,000 levels"), "\(refused.errors)")
    var environment = ProcessInfo.processInfo.environment
    environment["SWIFT_BACKTRACE"] = nil
    let source = "filesrc location=\(path) ! qtdemux ! decodebin ! video/x-raw"
    let ended = try Command.run(["capture", scratch.path("b.mp4"), "--source", source], environment: environment)
    #expect(ended.status == 70 && ended.errors.contains("signal \(SIGSEGV)"), "\(ended.status): \(ended.errors)")
  }

  @Test("a header nested 900 levels deep is read")
  func deepHeader() throws {
    let scratch = try Scratch()
    try Self.nestedMovie(900).write(to: URL(fileURLWithPath: scratch.path("a.mp4")))
    let result = try Command.run(["info", scratch.path("a.mp4")])
    #expect(result.status == 65 && !result.errors.contains("levels"), "\(result.errors)")
  }

  @Test("a frame rate that leaves no frame, and video too small for FFV1, are refused")
  func nothingLeft() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let slow = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--fps", "1/9"])
    #expect(slow.status == 64 && slow.errors.contains("no frame"), "\(slow.errors)")
    let part = ["--fps", "1/3", "--end", "0.4"]
    #expect(try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.mkv")] + part).status == 64)
    for size in ["1x1", "3x16", "8x1"] {
      _ = try FFmpeg.bytes([
        "-y", "-f", "lavfi", "-i", "testsrc=s=\(size):d=0.2", "-c:v", "ffv1", scratch.path("a.mkv"),
      ])
      let small = try Command.run(["reverse", scratch.path("a.mkv"), scratch.path("b.mkv"), "--video-codec", "ffv1"])
      #expect(small.status == 64 && small.errors.contains("numbered .png"), "\(size): \(small.errors)")
    }
    #expect(scratch.names == ["a.mp4", "a.mkv"])
  }

  @Test("--print-pipeline prints pipelines and writes no file")
  func printPipeline() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let result = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--print-pipeline"])
    #expect(result.status == 0)
    #expect(result.output.contains("appsink name=video") && result.output.contains("appsrc name=video"))
    #expect(scratch.names == ["a.mp4"])
  }

  @Test("plan --json lists streams and keyframes")
  func planJSON() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let result = try Command.run(["plan", scratch.path("a.mp4"), "--json"])
    let report = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    let streams = try #require(report?["streams"] as? [[String: Any]])
    #expect(streams.count == 2 && streams.first?["count"] as? Int == 60)
    #expect((report?["keyframes"] as? [Double])?.count == 4)
  }

  @Test("--strict writes nothing if a stream would be left out")
  func strict() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let loose = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("a.gif"), "--fps", "5"])
    #expect(loose.status == 0 && loose.errors.contains("warning: left out: the audio"))
    let strict = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b.gif"), "--fps", "5", "--strict"])
    #expect(strict.status == 65 && strict.errors.contains("left out: the audio"))
    #expect(scratch.names == ["a.gif", "a.mp4"])
  }

  @Test("JSON progress has warnings and errors with codes")
  func jsonCodes() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    func last(_ arguments: String...) throws -> [String: Any]? {
      let result = try Command.run(["reverse"] + arguments + ["--progress", "json"])
      let lines = result.errors.split(separator: "\n")
      let objects = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
      return objects.last ?? nil
    }
    let done = try last(scratch.path("a.mp4"), scratch.path("a.gif"), "--fps", "5")
    #expect(done?["stage"] as? String == "done")
    let warnings = try #require(done?["warnings"] as? [[String: Any]])
    #expect(warnings.map { $0["code"] as? String } == ["stream-left-out"] && warnings[0]["count"] as? Int == 1)
    let failed = try last(scratch.path("none.mp4"), scratch.path("b.mp4"))
    let error = try #require(failed?["error"] as? [String: Any])
    #expect(failed?["stage"] as? String == "failed")
    #expect(error["code"] as? String == "no-input" && error["status"] as? Int == 66)
    #expect(error["subject"] as? String == scratch.path("none.mp4"))
  }

  @Test("--start and --end trim to the frame")
  func trim() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    let result = try Command.run(
      ["reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--start", "10f", "--end", "30f", "--no-audio"])
    #expect(result.status == 0)
    #expect(result.errors.contains("20 frames"))
  }

  /// A terminal would interpret escape sequences, C1 codes and newlines in file names.
  @Test(
    "control characters in names are escaped",
    arguments: ["info", "info --json", "plan", "reverse", "verify", "print", "refused", "usage"])
  func controlCharacters(_ form: String) throws {
    let scratch = try Scratch()
    let odd = scratch.path("a\n\u{1B}[31m\u{7F}\u{9B}2J.mp4")
    try Command.makeClip(scratch.path("plain.mp4"), frames: 2)
    try FileManager.default.moveItem(atPath: scratch.path("plain.mp4"), toPath: odd)
    let arguments: [String: [String]] = [
      "info": ["info", odd], "info --json": ["info", odd, "--json"], "plan": ["plan", odd],
      "reverse": ["reverse", odd, scratch.path("b\r\u{1B}c.mkv")], "verify": ["verify", odd, odd],
      "refused": ["info", odd + ".none"], "usage": ["info", odd, odd],
      "print": ["reverse", odd, scratch.path("b\u{1B}.nothing"), "--print-pipeline"],
    ]
    let result = try Command.run(arguments[form] ?? [])
    let text = result.output + result.errors
    let raw = text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
    #expect(raw.isEmpty, "\(text.debugDescription)")
    #expect(text.contains("\\u001b"))
  }

  @Test("--version and info --json name the releases of GStreamer and its plugins")
  func releases() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    let library = "\(GStreamer.release)"
    let version = try Command.run(["--version"])
    #expect(version.output.split(separator: "\n").dropFirst().first == "GStreamer \(library)")
    let info = try Command.run(["info", scratch.path("a.mp4"), "--json"])
    let report = try JSONDecoder().decode(SourceReport.self, from: Data(info.output.utf8))
    #expect(report.gstreamer.library == library)
    let known = Registry.release(ofPluginWith: "qtdemux")
    #expect(known != nil && report.gstreamer.plugins["isomp4"] == known?.description)
  }

  @Test("-h shows only the first ten options", arguments: [["reverse"], ["loop"], ["serve"], []])
  func shortHelp(command: [String]) throws {
    let short = try Command.run(command + ["-h"])
    let long = try Command.run(command + ["--help"])
    #expect(short.status == 0)
    let lines = short.output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(lines.contains { $0.hasPrefix("USAGE: retrograde") })
    #expect(lines.last == "--help shows all options, and examples.")
    let options = lines.filter { $0.hasPrefix("  -") }
    #expect(options.count == (command.isEmpty ? 0 : 10))
    #expect(long.output.contains("EXAMPLES") && long.output.count > short.output.count)
    #expect(options.allSatisfy { long.output.contains($0.prefix(20)) })
  }

  @Test("the help has examples")
  func helpExamples() throws {
    for arguments in [["--help"], ["reverse", "--help"], ["plan", "--help"]] {
      let result = try Command.run(arguments)
      #expect(result.status == 0)
      #expect(result.output.contains("EXAMPLES"))
    }
    #expect(try Command.run(["--version"]).output.contains("GStreamer"))
  }
}
