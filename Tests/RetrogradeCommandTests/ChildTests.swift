import Foundation
import Testing

/// One file of several that crashes, hangs or is interrupted.
@Suite struct ChildTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    for name in ["in", "out"] {
      try FileManager.default.createDirectory(at: scratch.url.appending(path: name), withIntermediateDirectories: true)
    }
  }

  private func makeClip(_ name: String, frames: Int = 10) throws {
    try Command.makeClip(scratch.path(name), frames: frames)
  }

  /// Waits for the child that has the file open.
  private func child(of process: Process, with name: String) -> Int32? {
    while process.isRunning {
      let found = FileManager.default.children(of: process.processIdentifier).first {
        FileManager.default.hasOpen(scratch.path(name), $0)
      }
      if let found { return found }
    }
    return nil
  }

  private func made() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")))
  }

  @Test("a crash in one file of a batch stops no other file", arguments: [SIGABRT, SIGSEGV, SIGKILL])
  func crash(signal: Int32) throws {
    try makeClip("in/b.mp4")
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    let files = [scratch.path("in/a.mp4"), scratch.path("in/b.mp4")]
    let result = try Command.run(["reverse"] + files + ["--into", scratch.path("out"), "--jobs", "1"]) { process, _ in
      // Without a writer, the pipe is waited for.
      if let child = child(of: process, with: "in/a.mp4") { kill(child, signal) }
    }
    #expect(result.status == 70)
    #expect(result.errors.contains("\(files[0]): the process that read it "), "\(result.errors)")
    #expect(result.errors.contains("signal \(signal)"))
    #expect(result.errors.contains("1 of 2 made") && result.errors.contains("1 failed: \(files[0])"))
    #expect(try made() == ["b.mp4"])
  }

  @Test("a hang in one file of a batch stops no other file")
  func hang() throws {
    try makeClip("in/b.mp4")
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    let files = [scratch.path("in/a.mp4"), scratch.path("in/b.mp4")]
    let result = try Command.run(
      ["reverse"] + files + ["--into", scratch.path("out"), "--jobs", "1", "--stall-limit", "5"])
    #expect(result.status == 70)
    #expect(
      result.errors.contains("\(files[0]): the process that read it made no progress for 5 s"), "\(result.errors)")
    #expect(try made() == ["b.mp4"])
  }

  @Test("a file that crashed is not tried again until it changes", arguments: [false, true])
  func record(isWatched: Bool) throws {
    try makeClip("in/a.mp4", frames: 3000)
    let input = isWatched ? ["--watch", scratch.path("in")] : [scratch.path("in")]
    let arguments =
      ["reverse"] + input + ["--into", scratch.path("out"), "--preset", "veryslow", "--progress", "json"]
    // A watch ends with a signal.
    func run(until stage: String, _ body: @escaping (Process) -> Void = { _ in }) throws -> Command.Result {
      try Command.run(arguments) { process, nextLine in
        while let line = nextLine() {
          if line.contains("\"stage\":\"reversing\"") { body(process) }
          if line.contains("\"stage\":\"\(stage)\"") { break }
        }
        if isWatched { kill(process.processIdentifier, SIGINT) }
      }
    }
    let first = try run(until: "failed") { process in
      for child in FileManager.default.children(of: process.processIdentifier) { kill(child, SIGSEGV) }
    }
    #expect(first.status == (isWatched ? 130 : 70) && first.errors.contains("\"code\":\"crashed\""))
    #expect(try made() == [".retrograde-watch"])
    try makeClip("in/b.mp4")
    let second = try run(until: isWatched ? "done" : "all")
    #expect(second.status == (isWatched ? 130 : 70), "\(second.errors)")
    #expect(isWatched || second.errors.contains("it was not tried again"), "\(second.errors)")
    #expect(!second.errors.contains("\"input\":\"\(scratch.path("in/a.mp4"))\",\"memory\""))
    #expect(try made() == [".retrograde-watch", "b.mp4"])
    // Another file of that name.
    try FileManager.default.removeItem(atPath: scratch.path("in/a.mp4"))
    try FileManager.default.moveItem(atPath: scratch.path("in/b.mp4"), toPath: scratch.path("in/a.mp4"))
    let third = try run(until: isWatched ? "done" : "all")
    #expect(third.status == (isWatched ? 130 : 0), "\(third.errors)")
    #expect(try made() == [".retrograde-watch", "a.mp4", "b.mp4"])
  }

  @Test("no child outlives a parent that is killed")
  func killedParent() throws {
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    var orphan: Int32?
    _ = try Command.run(["reverse", scratch.path("in/a.mp4"), "--into", scratch.path("out")]) { process, _ in
      orphan = child(of: process, with: "in/a.mp4")
      kill(process.processIdentifier, SIGKILL)
    }
    let left = try #require(orphan)
    // The output of the parent ends when the child, which has it too, does.
    while FileManager.default.hasOpen(scratch.path("in/a.mp4"), left) {}
    #expect(try made() == [])
  }

  @Test("a second signal ends a batch whose child does not end")
  func secondSignalOfBatch() throws {
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    var stopped: Int32?
    let result = try Command.run(["reverse", scratch.path("in/a.mp4"), "--into", scratch.path("out")]) { process, _ in
      stopped = child(of: process, with: "in/a.mp4")
      if let stopped { kill(stopped, SIGSTOP) }
      while process.isRunning { kill(process.processIdentifier, SIGINT) }
    }
    #expect(result.status == 130)
    #expect(!result.errors.contains("interrupted"), "it did not wait for the child: \(result.errors)")
    #expect(!FileManager.default.hasOpen(scratch.path("in/a.mp4"), try #require(stopped)), "the child is killed")
  }

  @Test(
    "a second SIGINT or SIGTERM ends a process whose work hangs", .timeLimit(.minutes(1)), arguments: [SIGINT, SIGTERM])
  func secondSignal(signal: Int32) throws {
    try #require(mkfifo(scratch.path("in/pipe"), 0o600) == 0)
    let arguments = [
      "capture", scratch.path("b.mp4"), "--source",
      "filesrc location=\(scratch.path("in/pipe")) ! rawvideoparse width=16 height=16",
    ]
    var writer: Int32 = -1
    let result = try Command.run(arguments) { process, _ in
      // filesrc waits in read(2) for bytes that never come, and nothing can interrupt it.
      while writer < 0, process.isRunning { writer = open(scratch.path("in/pipe"), O_WRONLY | O_NONBLOCK | O_CLOEXEC) }
      // The first one cancels the work. One that comes 0.2 s later is the second.
      while process.isRunning { kill(process.processIdentifier, signal) }
    }
    if writer >= 0 { close(writer) }
    #expect(result.status == 128 + signal, "\(result.errors)")
  }
}
