import Foundation
import Testing

/// Messages of runs that fail or are killed, and the files that these runs leave.
@Suite struct EndingTests {
  @Test("a killed run leaves no files")
  func killedRun() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 3000)
    try Data("old".utf8).write(to: scratch.url.appending(path: "b.mp4"))
    let arguments = [
      "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--overwrite", "--progress", "json", "--preset",
      "veryslow", "--spool-dir", scratch.url.path,
    ]
    _ = try Command.run(arguments) { process, nextLine in
      while let line = nextLine(), !line.contains("reversing") {}
      kill(process.processIdentifier, SIGKILL)
    }
    #expect(scratch.names == ["a.mp4", "b.mp4"])
    #expect(try Data(contentsOf: scratch.url.appending(path: "b.mp4")) == Data("old".utf8))
  }

  @Test(
    "a failed write to standard output is an error",
    arguments: [
      ["--help"], ["--version"], ["info", "a.mp4"], ["plan", "a.mp4", "--json"], ["devices"],
      ["reverse", "a.mp4", "b.mp4", "--print-pipeline"],
    ])
  func unwritableStandardOutput(arguments: [String]) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    let given = arguments.map { $0.hasSuffix(".mp4") ? scratch.path($0) : $0 }
    let closed = Pipe()
    try closed.fileHandleForReading.close()
    let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
    for (output, reason) in [(full, "No space left"), (closed.fileHandleForWriting, "Broken pipe")] {
      let result = try Command.run(given, output: output)
      #expect(result.status == 74)
      #expect(result.errors.contains("standard output: can't be written: \(reason)"), "\(result.errors)")
    }
  }

  @Test(
    "a failed write is an error that names the output", arguments: ["b.mp4", "b.mkv", "b.webp", "b.apng", "b%d.png"])
  func failedWrite(name: String) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    // Limits files to 1 KiB. A write beyond this limit fails as on a full disk, but with the
    // message `File too large`.
    let limited = ["-c", "ulimit -f 2; exec \"$@\"", "sh", Command.url.path]
    let arguments = ["reverse", scratch.path("a.mp4"), scratch.path(name), "--no-audio"]
    let result = try Command.run(limited + arguments, of: URL(fileURLWithPath: "/bin/sh"))
    #expect(result.status == 74)
    #expect(result.errors.contains("\(scratch.path(name)): can't be written: File too large"), "\(result.errors)")
    #expect(scratch.names == ["a.mp4"])
  }

  /// The frames that were written before the failure must not remain as an output file.
  @Test("a spool that cannot be written ends the run")
  func spoolFailure() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
    #expect(try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("a.gif")]).status == 0)
    // The limit of 100 KiB is above the size of the output, but below the size of the decoded GIF
    // frames in the spool.
    let limited = ["-c", "ulimit -f 200; exec \"$@\"", "sh", Command.url.path]
    let arguments = [
      "reverse", scratch.path("a.gif"), scratch.path("b.mkv"), "--video-codec", "h264", "--memory", "400KiB",
      "--spool-dir", scratch.url.path,
    ]
    let result = try Command.run(limited + arguments, of: URL(fileURLWithPath: "/bin/sh"))
    #expect(result.status == 74)
    #expect(result.errors.contains("a temporary file can't be written: File too large"), "\(result.errors)")
    #expect(scratch.names == ["a.gif", "a.mp4"])
  }

  /// Plugins run out of memory at each of these limits. At larger limits, the failure depends on
  /// the number of processors. The test is disabled under AddressSanitizer, which alone needs more
  /// address space than these limits.
  @Test(
    "if the limit on address space is too low, the message names the limit",
    .disabled(if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil),
    arguments: [300, 400])
  func addresses(megabytes: Int) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 30)
    let limited = ["-c", "ulimit -v \(megabytes * 1000); exec \"$@\"", "sh", Command.url.path]
    let arguments = ["reverse", scratch.path("a.mp4"), scratch.path("b.mp4")]
    let result = try Command.run(limited + arguments, of: URL(fileURLWithPath: "/bin/sh"))
    #expect(scratch.names == ["a.mp4"])
    // If g_error has no memory for its message, it calls itself until the stack overflows (GLib
    // 2.74), or aborts (GLib 2.84).
    withKnownIssue("docs/reliability.md names it", isIntermittent: true) {
      #expect(result.status == 74)
      #expect(result.errors.contains("the limit on address space (ulimit -v) is reached"), "\(result.errors)")
    } when: {
      [SIGSEGV, SIGABRT].contains(result.status)
    }
  }

  @Test("nohup keeps the command running after SIGHUP")
  func nohup() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 300)
    let arguments = [Command.url.path, "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--progress", "json"]
    let result = try Command.run(arguments, of: URL(fileURLWithPath: "/usr/bin/nohup")) { process, nextLine in
      while let line = nextLine(), !line.contains("stage") {}
      kill(process.processIdentifier, SIGHUP)
    }
    #expect(result.status == 0)
    #expect(scratch.names == ["a.mp4", "b.mp4"])
  }

  @Test("a long name works, and a name that is too long is refused before the work")
  func longNames() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    let name = String(repeating: "逆", count: 82) + ".mp4"
    #expect(try Command.run(["reverse", scratch.path("a.mp4"), scratch.path(name)]).status == 0)
    #expect(scratch.names == ["a.mp4", name])
    let refused = try Command.run(["reverse", scratch.path("a.mp4"), scratch.path("逆逆" + name), "--progress", "json"])
    #expect(refused.status == 73)
    #expect(!refused.errors.contains("indexing"), "\(refused.errors)")
  }

  @Test("messages do not go into the output if standard error is closed")
  func closedStandardError() throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 5)
    let closing = ["-c", "exec \"$@\" 2>&-", "sh", Command.url.path]
    let result = try Command.run(
      closing + ["reverse", scratch.path("a.mp4"), scratch.path("b.mp4")], of: URL(fileURLWithPath: "/bin/sh"))
    #expect(result.status == 0)
    #expect(try Command.run(["info", scratch.path("b.mp4"), "--strict"]).status == 0)
  }
}
