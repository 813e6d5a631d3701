import Foundation
import Testing

/// Output to standard output, as `-`.
@Suite struct StandardOutputTests {
  /// Runs the command in a shell.
  private func shell(_ script: String, in scratch: Scratch) throws -> Command.Result {
    try Command.run(
      ["-c", "cd \"$1\" && shift && \(script)", "bash", scratch.url.path, Command.url.path],
      of: URL(fileURLWithPath: "/bin/bash"))
  }

  /// Formats that always store the same media as the same bytes.
  @Test("a pipe gets the same bytes as a file", arguments: ["wav", "flac", "y4m", "gif", "ts", "mpegts", "apng"])
  func pipedBytes(format: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 12)
    let result = try shell(
      "\"$1\" reverse a.mp4 - --format \(format) | cat > piped && \"$1\" reverse a.mp4 b.bin --format \(format)",
      in: scratch)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("standard output: ") && result.output.isEmpty)
    #expect(!result.errors.contains("- can hold") && !result.errors.contains("- can't hold"), "\(result.errors)")
    let piped = try Data(contentsOf: scratch.url.appending(path: "piped"))
    #expect(try piped == Data(contentsOf: scratch.url.appending(path: "b.bin")) && !piped.isEmpty)
  }

  /// Formats whose headers are completed after the last packet.
  @Test("piped output passes verify", arguments: ["mkv", "matroska", "mp4", "webm"])
  func pipedOutput(format: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 12)
    let name = "b.\(format == "matroska" ? "mkv" : format)"
    let result = try shell(
      "cat a.mp4 | \"$1\" reverse - - --format \(format) | cat > \(name) && \"$1\" verify a.mp4 \(name)", in: scratch)
    #expect(result.status == 0, "\(result.errors)\(result.output)")
  }

  @Test("--verify works if the output is standard output")
  func verifiedOutput() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 12)
    let result = try shell("\"$1\" reverse a.mp4 - --format mkv --verify --quiet > b.mkv", in: scratch)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(try Command.run(["verify", scratch.path("a.mp4"), scratch.path("b.mkv")]).status == 0)
  }

  @Test("a failed run writes nothing to standard output")
  func failedRun() throws {
    let scratch = try Scratch()
    try Data("This is not media.\n".utf8).write(to: scratch.url.appending(path: "text.mp4"))
    let result = try shell("\"$1\" reverse text.mp4 - --format mkv > out.mkv", in: scratch)
    #expect(result.status == 65)
    #expect(try Data(contentsOf: scratch.url.appending(path: "out.mkv")).isEmpty)
  }

  @Test("a closed pipe and a full disk are reported as errors")
  func unwritableOutput() throws {
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
    let closedOutput = try Command.run(
      ["-c", "exec \"$@\" >&-", "sh", Command.url.path] + arguments, of: URL(fileURLWithPath: "/bin/sh"))
    #expect(closedOutput.status == 73 && closedOutput.errors.contains("is closed"), "\(closedOutput.errors)")
  }

  /// Nothing reads from the pipe, which is full after 64 KiB.
  @Test("a signal ends the wait for a reader of the pipe")
  func idleReader() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 30)
    let idle = Pipe()
    let arguments = ["reverse", scratch.path("a.mp4"), "-", "--format", "y4m", "--progress", "json"]
    let result = try Command.run(arguments, output: idle.fileHandleForWriting) { process, nextLine in
      // Waits for the last stage, because earlier stages may not be reported if they are short.
      while let line = nextLine(), !line.contains(#""stage":"finishing""#) {}
      kill(process.processIdentifier, SIGTERM)
    }
    #expect(result.status == 143, "\(result.errors)")
  }

  @Test("a terminal is refused as output")
  func terminal() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 2)
    // The program `script` runs the command in a new terminal, and copies the terminal's contents
    // to its output.
    let result = try shell("script -qec \"'$1' reverse a.mp4 - --format mkv\" /dev/null", in: scratch)
    #expect(result.status == 64)
    #expect(result.output.contains("is a terminal") && result.output.contains("> out.mkv"), "\(result.output)")
  }

  @Test("--format takes precedence over the extension of the output")
  func explicitFormat() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    #expect(try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("b"), "--format", "mkv"]).status == 0)
    let start = try Data(contentsOf: scratch.url.appending(path: "b")).prefix(4)
    #expect(Array(start) == [0x1A, 0x45, 0xDF, 0xA3], "EBML")
  }
}
