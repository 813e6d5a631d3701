import Foundation
import Testing

/// What is written to standard output, as `-`.
@Suite struct StandardOutputTests {
  /// Runs the command in a shell.
  private func shell(_ script: String, in scratch: Scratch) throws -> Command.Result {
    try Command.run(
      ["-c", "cd \"$1\" && shift && \(script)", "bash", scratch.url.path, Command.url.path],
      of: URL(fileURLWithPath: "/bin/bash"))
  }

  /// Those whose bytes depend on nothing but what is in them.
  @Test(arguments: ["wav", "flac", "y4m", "gif", "ts", "mpegts", "apng"])
  func aPipeGetsTheBytesThatAFileGets(format: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 12)
    let result = try shell(
      "\"$1\" reverse a.mp4 - --format \(format) | cat > piped && \"$1\" reverse a.mp4 b.bin --format \(format)",
      in: scratch)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("standard output: ") && result.output.isEmpty)
    #expect(!result.errors.contains("- holds") && !result.errors.contains("- can't hold"), "\(result.errors)")
    let piped = try Data(contentsOf: scratch.url.appending(path: "piped"))
    #expect(try piped == Data(contentsOf: scratch.url.appending(path: "b.bin")) && !piped.isEmpty)
  }

  /// Their headers are put right when all is written.
  @Test(arguments: ["mkv", "matroska", "mp4", "webm"])
  func whatComesOutOfAPipeIsTheExactMirror(format: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 12)
    let name = "b.\(format == "matroska" ? "mkv" : format)"
    let result = try shell(
      "cat a.mp4 | \"$1\" reverse - - --format \(format) | cat > \(name) && \"$1\" verify a.mp4 \(name)", in: scratch)
    #expect(result.status == 0, "\(result.errors)\(result.output)")
  }

  @Test func aMirrorIsVerifiedBeforeAnythingComesOut() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 12)
    let result = try shell("\"$1\" reverse a.mp4 - --format mkv --verify --quiet > b.mkv", in: scratch)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(try Command.run(["verify", scratch.path("a.mp4"), scratch.path("b.mkv")]).status == 0)
  }

  @Test func nothingComesOutOfARunThatFails() throws {
    let scratch = try Scratch()
    try Data("This is not media.\n".utf8).write(to: scratch.url.appending(path: "text.mp4"))
    let result = try shell("\"$1\" reverse text.mp4 - --format mkv > out.mkv", in: scratch)
    #expect(result.status == 65)
    #expect(try Data(contentsOf: scratch.url.appending(path: "out.mkv")).isEmpty)
  }

  @Test func nobodyWhoReadsAndNoRoomAreErrors() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    let arguments = ["reverse", scratch.path("a.mp4"), "-", "--format", "y4m"]
    let closed = Pipe()
    try closed.fileHandleForReading.close()
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    for (output, reason) in [(full, "No space left"), (closed.fileHandleForWriting, "Broken pipe")] {
      let result = try Command.run(arguments, output: output)
      #expect(result.status == 74)
      #expect(result.errors.contains("standard output: can't be written: \(reason)"), "\(result.errors)")
    }
    let gone = try Command.run(
      ["-c", "exec \"$@\" >&-", "sh", Command.url.path] + arguments, of: URL(fileURLWithPath: "/bin/sh"))
    #expect(gone.status == 73 && gone.errors.contains("is closed"), "\(gone.errors)")
  }

  /// Nobody reads it: it is full after 64 KiB.
  @Test func waitingForAReaderEndsWithASignal() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 30)
    let idle = Pipe()
    let arguments = ["reverse", scratch.path("a.mp4"), "-", "--format", "y4m", "--progress", "json"]
    let result = try Command.run(arguments, output: idle.fileHandleForWriting) { process, nextLine in
      // What is told before may not be, where nobody had time for it.
      while let line = nextLine(), !line.contains(#""stage":"finishing""#) {}
      kill(process.processIdentifier, SIGTERM)
    }
    #expect(result.status == 143, "\(result.errors)")
  }

  @Test func aTerminalIsRefused() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 2)
    // It runs what it is given in a terminal of its own, and shows what is seen there.
    let result = try shell("script -qec \"'$1' reverse a.mp4 - --format mkv\" /dev/null", in: scratch)
    #expect(result.status == 64)
    #expect(result.output.contains("is a terminal") && result.output.contains("> out.mkv"), "\(result.output)")
  }

  @Test func aFileMayBeOfAnotherFormatThanItsNameSays() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    #expect(try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b"), "--format", "mkv"]).status == 0)
    let start = try Data(contentsOf: scratch.url.appending(path: "b")).prefix(4)
    #expect(Array(start) == [0x1A, 0x45, 0xDF, 0xA3], "EBML")
  }
}
