import Foundation
import TestSupport
import Testing

/// Several files at once, and the meaning of file names on the command line.
@Suite struct FilesTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try FileManager.default.createDirectory(at: scratch.url.appending(path: "in"), withIntermediateDirectories: true)
  }

  private func run(_ arguments: String...) throws -> Command.Result { try run(list: arguments) }

  private func run(list arguments: [String]) throws -> Command.Result {
    // Runs in the folder, which keeps the file names in arguments and messages short.
    try Command.run(
      ["-c", "cd \"$0\" && exec \"$@\"", scratch.url.path, Command.url.path] + arguments,
      of: URL(fileURLWithPath: "/bin/sh"))
  }

  private func names(in folder: String) -> Set<String> {
    Set(FileManager.default.enumerator(atPath: scratch.path(folder))?.compactMap { $0 as? String } ?? [])
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: scratch.url.appending(path: name))
  }

  private func makeClips(_ names: String...) throws {
    try Command.makeClip(scratch.path("clip.mp4"), frames: 10)
    for name in names {
      try FileManager.default.createDirectory(
        at: scratch.url.appending(path: name).deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: scratch.path("clip.mp4"), toPath: scratch.path(name))
    }
  }

  @Test("if one media file in a folder fails, the others are still reversed")
  func folderInput() throws {
    try makeClips("in/a.mp4", "in/b.mp4", "in/.hidden.mp4", "in/deep/c.mp4")
    try write("1\n00:00:00,100 --> 00:00:00,300\nFirst\n", to: "in/a.srt")
    try write("Nothing", to: "in/readme.txt")
    let bytes = try Data(contentsOf: scratch.url.appending(path: "clip.mp4"))
    try bytes.prefix(200).write(to: scratch.url.appending(path: "in/aa-cut.mp4"))
    let result = try run("reverse", "in", "--into", "out", "--jobs", "2")
    #expect(result.status == 65, "the status of the one that failed")
    #expect(names(in: "out") == ["a.mp4", "b.mp4"])
    #expect(result.errors.contains("out/a.mp4: 10 frames"))
    #expect(result.errors.contains("retrograde: 2 of 3 files reversed"))
    #expect(result.errors.contains("1 failed: in/aa-cut.mp4"))
  }

  @Test("the message about an empty or unreadable file in a folder names the file")
  func unreadableFiles() throws {
    try makeClips("in/a.mp4")
    try write("", to: "in/empty.mp4")
    try write("", to: "in/readme.txt")
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("in/link.mkv"), withDestinationPath: "nowhere")
    let result = try run("reverse", "in", "--into", "out")
    #expect(result.status == 65 && names(in: "out") == ["a.mp4"])
    #expect(result.errors.contains("retrograde: in/empty.mp4: is empty"))
    #expect(result.errors.contains("1 of 3 files reversed"))
    #expect(result.errors.contains("2 failed: in/empty.mp4, in/link.mkv"), "\(result.errors)")
  }

  @Test("files with a media extension but without media fail")
  func namedAsMedia() throws {
    try makeClips("in/a.mp4")
    try write("", to: "in/empty.WMV")
    try write(String(repeating: "\0", count: 4000), to: "in/zero.m2ts")
    try write("<html><body>Not found</body></html>", to: "in/page.mkv")
    try write(String(repeating: "\u{1}\0", count: 2000), to: "in/zero.ts")
    for name in ["in/code.ts", "in/notes", "in/mp4", "in/list.txt"] { try write("const a: number = 1\n", to: name) }
    let result = try run("reverse", "in", "--into", "out", "--name", "{stem}.{ext}.mp4")
    #expect(result.status == 65 && names(in: "out") == ["a.mp4.mp4"])
    #expect(
      result.errors.contains("4 failed: in/empty.WMV, in/page.mkv, in/zero.m2ts, in/zero.ts"), "\(result.errors)")
  }

  @Test("--name sets output names and containers")
  func outputNames() throws {
    try makeClips("in/a.b.mp4", "in/deep/c.mp4")
    let result = try run("reverse", "in", "--recursive", "--into", "out", "--name", "{stem}-r.mkv", "--quiet")
    #expect(result.status == 0 && result.errors == "")
    #expect(names(in: "out") == ["a.b-r.mkv", "deep", "deep/c-r.mkv"])
  }

  @Test("the output is .mkv if the source's format can only be read")
  func extensionsThatAreOnlyRead() throws {
    try makeClips("in/a.mp4", "in/b.flv", "in/c.WMV", "in/d.MOV", "in/f.flv", "in/f.mkv")
    try write("Nothing", to: "in/e.aac")
    let result = try run("reverse", "in", "--into", "out", "--name", "{stem}-r.{ext}")
    #expect(result.status == 65 && result.errors.contains("1 failed: in/e.aac"), "\(result.errors)")
    #expect(names(in: "out") == ["a-r.mp4", "b-r.mkv", "c-r.mkv", "d-r.MOV", "f-r.flv.mkv", "f-r.mkv"])
    let formatted = try run("in/b.flv", "--into", "mp4", "--format", "mp4")
    #expect(formatted.status == 0 && names(in: "mp4") == ["b.flv"], "--format says what it is: \(formatted.errors)")
  }

  @Test("files joined by + have one output")
  func joinedFiles() throws {
    try makeClips("in/a.mp4", "in/b.mp4")
    let result = try run("in/a.mp4", "+", "in/b.mp4", "+", "in/a.mp4", "out.mp4")
    #expect(result.status == 0 && result.errors.contains("out.mp4: 30 frames"))
    let refusals = [
      (["in/a.mp4", "+", "in/b.mp4"], "No output is given for in/a.mp4 + in/b.mp4."),
      (["in/a.mp4", "+"], "A + joins the inputs before and after it"),
      (["in/a.mp4", "+", "in/b.mp4", "--into", "all"], "--into can't be used with joined files; leave out --into"),
      (["in/a.mp4", "+", "in/b.mp4", "o.mp4", "--work", "w"], "can't be used with joined files; leave out --work"),
    ]
    for (arguments, words) in refusals {
      let refused = try self.run(list: ["reverse"] + arguments)
      #expect(refused.status == 64 && refused.errors.contains(words), "\(arguments)")
    }
  }

  /// No file is written, and no file is indexed.
  @Test("outputs that cannot be made are refused before any work")
  func impossibleOutputs() throws {
    try makeClips("in/a.mp4", "in/b.mp4", "in/deep/a.mp4", "out/a.mp4", "out/b.mp4")
    let refusals: [([String], Int32, String)] = [
      (["in", "--into", "out"], 73, "out/a.mp4: exists; the same applies to out/b.mp4; --overwrite replaces it"),
      (["in", "--into", "in", "-y"], 73, "in/a.mp4: is the input itself"),
      (
        ["in/a.mp4", "in/deep/a.mp4", "--into", "new"], 64,
        "new/a.mp4: would be the output of both in/a.mp4 and in/deep/a.mp4"
      ),
      (["in/a.mp4", "--into", "new", "--name", "{stem}.xyz"], 64, "no container has the extension"),
      (["-", "--into", "new"], 64, "standard input: can't be used with --into"),
      (["out/../in/deep", "--into", "in/a.mp4"], 73, "in/a.mp4: is not a folder"),
    ]
    let before = names(in: ".")
    for (arguments, status, words) in refusals {
      let result = try Command.run(
        ["-c", "cd \"$0\" && exec \"$@\"", scratch.url.path, Command.url.path, "reverse", "--progress", "json"]
          + arguments, of: URL(fileURLWithPath: "/bin/sh"))
      #expect(result.status == status && result.errors.contains(words), "\(arguments): \(result.errors)")
      #expect(!result.errors.contains("indexing"))
      #expect(names(in: ".") == before, "\(arguments)")
    }
    #expect(try run("reverse", "in", "--into", "out", "-y").status == 0)
  }

  @Test("a file that can't be reversed stops no other file")
  func otherFiles() throws {
    try makeClips("in/a.mp4", "in/%05d.mp4", "b.mp4")
    try FileManager.default.createDirectory(atPath: scratch.path("empty"), withIntermediateDirectories: true)
    let result = try run("reverse", "in", "empty", "b.mp4", "--into", "out")
    #expect(result.status == 64)
    #expect(Set(names(in: "out")) == ["a.mp4", "b.mp4"])
    #expect(result.errors.contains("empty: contains no media files"))
    #expect(result.errors.contains("2 of 4 files reversed") && result.errors.contains("2 failed: in/%05d.mp4, empty"))
  }

  @Test("an empty folder is refused as input")
  func emptyFolder() throws {
    let result = try run("reverse", "in", "--into", "out")
    #expect(result.status == 66 && result.errors.contains("in: contains no media files"))
    #expect(scratch.names == ["in"])
  }

  @Test(
    "messages about mismatched arguments name the right arguments",
    arguments: [
      (["a.mp4"], "No output is given for a.mp4."), ([], "No files are given"),
      (["a.mp4", "b.mp4", "c.mp4"], "--into FOLDER reverses each file"),
      (["a.mp4", "--into", "out", "--work", "w"], "--work is for a single file, and can't be used with --into"),
      (["a.mp4", "b.mp4", "--name", "x.{ext}"], "--into"),
      (["a.mp4", "--into", "out", "--name", "{size}.mp4"], "--name"),
    ])
  func mismatchedArguments(arguments: [String], words: String) throws {
    let result = try Command.run(["reverse"] + arguments)
    #expect(result.status == 64 && result.errors.contains(words), "\(result.errors)")
  }

  @Test("JSON progress names and counts the files")
  func jsonProgress() throws {
    try makeClips("in/a.mp4")
    try write("Nothing", to: "in/b.mp4")
    let result = try run("reverse", "in/b.mp4", "in/a.mp4", "--into", "out", "--progress", "json")
    let lines = try result.errors.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
    #expect(result.status == 65)
    let last = try #require(lines.last)
    #expect(last["stage"] as? String == "all" && last["made"] as? Int == 1)
    #expect(last["failed"] as? Int == 1 && last["total"] as? Int == 2)
    let done = try #require(lines.first { $0["stage"] as? String == "done" })
    #expect(done["input"] as? String == "in/a.mp4" && done["output"] as? String == "out/a.mp4")
    let failed = try #require(lines.first { $0["stage"] as? String == "failed" })
    #expect(failed["input"] as? String == "in/b.mp4")
  }

  @Test("a signal ends a batch and leaves no files")
  func interruptedBatch() throws {
    try Command.makeClip(scratch.path("in/a.mp4"), frames: 3000)
    try FileManager.default.copyItem(atPath: scratch.path("in/a.mp4"), toPath: scratch.path("in/b.mp4"))
    let arguments = [
      "reverse", scratch.path("in"), "--into", scratch.path("out"), "--jobs", "2", "--progress", "json", "--preset",
      "veryslow",
    ]
    let result = try Command.run(arguments) { process, nextLine in
      while let line = nextLine(), !line.contains("reversing") {}
      kill(process.processIdentifier, SIGINT)
    }
    #expect(result.status == 130)
    #expect(scratch.names == ["in"], "the folder that was made for them is gone too")
    let last = try #require(result.errors.split(separator: "\n").last)
    let all = try #require(JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
    #expect(all["made"] as? Int == 0 && all["failed"] as? Int == 0)
    #expect(all["notMade"] as? [String] == [scratch.path("in/a.mp4"), scratch.path("in/b.mp4")])
  }

  @Test("on a terminal, each file in progress has a line")
  func terminalLines() throws {
    try makeClips("in/a.mp4", "in/a film with a long name, and more of it.mp4")
    let command = "stty cols 40; '\(Command.url.path)' reverse in --into out --jobs 2"
    let result = try Command.run(
      ["-c", "cd \"$0\" && script -qec \"$1\" /dev/null", scratch.url.path, command],
      of: URL(fileURLWithPath: "/bin/sh"))
    #expect(result.status == 0)
    // Each progress block follows an erase sequence and shows the number of files.
    let drawn = result.output.components(separatedBy: "\u{1B}[J")
      .filter { $0.contains("files") && !$0.contains("files reversed") }
    #expect(!drawn.isEmpty)
    for block in drawn {
      let lines = block.components(separatedBy: "\r\u{1B}[")[0].split(separator: "\r\n")
      #expect(lines.count <= 3 && lines.allSatisfy { $0.count < 40 }, "\(lines)")
    }
    #expect(result.output.contains("2 of 2 files reversed"))
  }

  // MARK: without a command name

  @Test("the command name may be omitted")
  func omittedCommand() throws {
    try makeClips()
    #expect(try run("clip.mp4", "out.mkv").status == 0)
    #expect(try run("--no-audio", "clip.mp4", "silent.mkv").status == 0)
    #expect(scratch.names == ["clip.mp4", "out.mkv", "silent.mkv", "in"])
    #expect(try run("none.mp4", "out2.mkv").status == 66)
  }

  @Test(
    "a misspelt command is not read as a file name",
    arguments: [("revers", "reverse"), ("inof", "info"), ("paly", "play"), ("verfy", "verify")])
  func misspeltCommand(word: String, meant: String) throws {
    let result = try run(word, "clip.mp4", "out.mkv")
    #expect(result.status == 64)
    #expect(result.errors.contains("no command '\(word)'") && result.errors.contains("Did you mean '\(meant)'?"))
  }

  @Test("help for an unknown command is a usage error")
  func helpForUnknown() throws {
    let unknown = try run("help", "foo")
    #expect(unknown.status == 64 && unknown.errors.contains("There is no command 'foo'."))
    #expect(try run("help", "revers").errors.contains("Did you mean 'reverse'?"))
    #expect(try run("help", "reverse").status == 0)
    #expect(try run("help").status == 0)
  }

  @Test("an unknown option is reported even if the number of file names is also wrong")
  func unknownOption() throws {
    let option = try run("reverse", "a", "b", "--lop", "ping-pong")
    #expect(option.status == 64 && option.errors.contains("Unknown option '--lop'"))
    let names = try run("reverse", "a", "b", "c")
    #expect(names.status == 64 && names.errors.contains("but got 3 names."))
    #expect(names.errors.contains("Usage: retrograde reverse "), "\(names.errors)")
  }

  // MARK: written files

  @Test("a changed codec is reported by its usual name, with the reason")
  func codecChanges() throws {
    try makeClips()
    #expect(try run("clip.mp4", "a.gif", "--no-audio").status == 0)
    let gif = try run("a.gif", "gif.mp4")
    #expect(gif.errors.contains("\n  GIF became H.264: GStreamer can't write GIF to .mp4\n"), "\(gif.errors)")
    let source = ["-i", scratch.path("clip.mp4"), "-c:v", "mpeg2video", "-c:a", "copy"]
    _ = try FFmpeg.bytes(source + ["-y", scratch.path("mpeg2.mkv")])
    let usual = try run("mpeg2.mkv", "usual.mkv")
    #expect(usual.errors.contains("\n  MPEG-2 became H.264: use --video-codec mpeg2 to keep it\n"), "\(usual.errors)")
    let place = try run("mpeg2.mkv", "place.mp4", "--for", "whatsapp")
    #expect(place.errors.contains("MPEG-2 became H.264: requested by --for\n"), "\(place.errors)")
  }

  @Test("the minimum of --memory in the message is enough for all streams")
  func smallestMemory() throws {
    let film = ["-f", "lavfi", "-i", "testsrc2=size=1280x720:duration=0.2", "-c:v", "libx264", "-preset", "ultrafast"]
    _ = try FFmpeg.bytes(film + ["-map", "0", "-map", "0", "-y", scratch.path("two.mkv")])
    let refused = try run("two.mkv", "b.mkv", "--memory", "1MiB")
    #expect(refused.status == 64)
    let least = try #require(refused.errors.firstMatch(of: /must be at least ([0-9.]+) ([KM]iB)/))
    let made = try run("two.mkv", "b.mkv", "--memory", "\(least.1)\(least.2)")
    #expect(made.status == 0, "\(least.0): \(made.errors)")
  }

  @Test("play refuses --score with --end before it opens a window")
  func scoreAndStretch() throws {
    let result = try run("play", "clip.mp4", "--score", "0..end", "--end", "1")
    #expect(result.status == 64, "\(result.errors)")
    #expect(
      result.errors.contains("--end can't be used with --score, which sets the whole order of play"),
      "\(result.errors)")
  }

  @Test("the summary lists the written streams and the changes")
  func writtenStreams() throws {
    try makeClips()
    let kept = try run("clip.mp4", "out.mp4")
    #expect(kept.errors.contains("\n  MP4: H.264 160x120 30 fps, AAC 48 kHz stereo\n"), "\(kept.errors)")
    #expect(!kept.errors.contains("became"))
    let named = try run("clip.mp4", "named.mp4", "--audio-codec", "audio/mpeg, mpegversion=(int)4")
    #expect(named.errors.contains("AAC 48 kHz stereo\n") && !named.errors.contains("became"), "\(named.errors)")
    let changed = try run("clip.mp4", "out.webm")
    #expect(changed.errors.contains("\n  WebM: VP9 160x120 30 fps, Opus 48 kHz stereo\n"), "\(changed.errors)")
    #expect(changed.errors.contains("\n  H.264 became VP9: .webm can't hold H.264\n"), "\(changed.errors)")
    let asked = try run("clip.mp4", "out.mkv", "--video-codec", "vp8", "--progress", "json")
    let last = try #require(asked.errors.split(separator: "\n").last)
    let done = try #require(JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
    let changes = try #require(done["changes"] as? [[String: String]])
    #expect(
      changes == [["kind": "video", "source": "H.264", "output": "VP8", "reason": "requested by --video-codec"]])
    let silent = try run("clip.mp4", "silent.mp4", "--progress", "json", "--quiet")
    #expect(silent.errors.contains("\"stage\":\"done\""), "\(silent.errors)")
    let written = try #require(done["written"] as? [String: Any])
    let streams = try #require(written["streams"] as? [[String: Any]])
    #expect(written["container"] as? String == "Matroska" && streams.map { $0["codec"] as? String } == ["VP8", "AAC"])
    #expect(streams[0]["width"] as? Int == 160 && streams[0]["frameRate"] as? Double == 30)
    #expect(streams[1]["rate"] as? Int == 48_000 && streams[1]["channels"] as? Int == 2)
  }
}
