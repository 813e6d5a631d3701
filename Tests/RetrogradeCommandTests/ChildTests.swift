import Foundation
import MediaTime
import Retrograde
import RetrogradeEngine
import Synchronization
import Testing

/// Child processes that crash, hang or are interrupted. A batch has one child for each file.
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

  /// Waits until a child process has the file open. Returns nil if `process` ends before.
  private func child(of process: Process, with name: String) -> Int32? {
    while process.isRunning {
      let found = FileManager.default.children(of: process.processIdentifier).first {
        FileManager.default.hasOpen(scratch.path(name), $0)
      }
      if let found { return found }
    }
    return nil
  }

  private func outputs() throws -> Set<String> {
    Set(try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")))
  }

  @Test("a crash in one file of a batch stops no other file", arguments: [SIGABRT, SIGSEGV, SIGKILL])
  func crash(signal: Int32) throws {
    try makeClip("in/b.mp4")
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    let files = [scratch.path("in/a.mp4"), scratch.path("in/b.mp4")]
    let result = try Command.run(["reverse"] + files + ["--into", scratch.path("out"), "--jobs", "1"]) { process, _ in
      // The child waits for the pipe, which has no writer.
      if let child = child(of: process, with: "in/a.mp4") { kill(child, signal) }
    }
    #expect(result.status == 70)
    #expect(result.errors.contains("\(files[0]): the process that read the file "), "\(result.errors)")
    #expect(result.errors.contains("signal \(signal)"))
    #expect(result.errors.contains("1 of 2 files reversed") && result.errors.contains("1 failed: \(files[0])"))
    #expect(try outputs() == ["b.mp4"])
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
      result.errors.contains("\(files[0]): the process that read the file made no progress for 5 s"),
      "\(result.errors)")
    #expect(try outputs() == ["b.mp4"])
  }

  @Test("a child inherits no open file of its parent")
  func inheritance() throws {
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    let line = "exec 99</dev/null \(Command.url.path) reverse \(scratch.path("in/a.mp4")) --into \(scratch.path("out"))"
    var isOpen: [Bool] = []
    _ = try Command.run(["-c", line], of: URL(fileURLWithPath: "/bin/bash")) { process, _ in
      guard let child = child(of: process, with: "in/a.mp4") else { return }
      isOpen = [process.processIdentifier, child].map { FileManager.default.hasOpen("/dev/null", $0) }
      kill(child, SIGKILL)
    }
    #expect(isOpen == [true, false])
  }

  @Test("a file whose child crashed is not retried until the file changes", arguments: [false, true])
  func crashRecord(isWatched: Bool) throws {
    try makeClip("in/a.mp4", frames: 3000)
    let input = isWatched ? ["--watch", scratch.path("in")] : [scratch.path("in")]
    let arguments =
      ["reverse"] + input + ["--into", scratch.path("out"), "--preset", "veryslow", "--progress", "json"]
    // A watch runs until it gets a signal.
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
    #expect(try outputs() == [".retrograde-watch"])
    try makeClip("in/b.mp4")
    let second = try run(until: isWatched ? "done" : "all")
    #expect(second.status == (isWatched ? 130 : 70), "\(second.errors)")
    #expect(isWatched || second.errors.contains("skipped: the process that read the file "), "\(second.errors)")
    #expect(!second.errors.contains("\"input\":\"\(scratch.path("in/a.mp4"))\",\"memory\""))
    #expect(try outputs() == [".retrograde-watch", "b.mp4"])
    // Replaces the file with another file of the same name.
    try FileManager.default.removeItem(atPath: scratch.path("in/a.mp4"))
    try FileManager.default.moveItem(atPath: scratch.path("in/b.mp4"), toPath: scratch.path("in/a.mp4"))
    let third = try run(until: isWatched ? "done" : "all")
    #expect(third.status == (isWatched ? 130 : 0), "\(third.errors)")
    #expect(try outputs() == [".retrograde-watch", "a.mp4", "b.mp4"])
  }

  @Test("no child outlives a killed parent")
  func killedParent() throws {
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    var orphan: Int32?
    _ = try Command.run(["reverse", scratch.path("in/a.mp4"), "--into", scratch.path("out")]) { process, _ in
      orphan = child(of: process, with: "in/a.mp4")
      kill(process.processIdentifier, SIGKILL)
    }
    let left = try #require(orphan)
    // `Command.run` has waited for the end of standard output. The child shares this output, so
    // the child is ending, too. The system may not have closed all files of the child yet.
    while FileManager.default.hasOpen(scratch.path("in/a.mp4"), left) {}
    #expect(try outputs() == [])
  }

  @Test("a second signal ends a batch whose child does not end", .timeLimit(.minutes(10)))
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
    // The child was killed. The system closes its files one by one, so the test waits until the
    // pipe is closed.
    let killed = try #require(stopped)
    while FileManager.default.hasOpen(scratch.path("in/a.mp4"), killed) {}
  }

  @Test(
    "a second SIGINT or SIGTERM ends a process whose work hangs", .timeLimit(.minutes(10)),
    arguments: [SIGINT, SIGTERM])
  func secondSignal(signal: Int32) throws {
    try #require(mkfifo(scratch.path("in/pipe"), 0o600) == 0)
    let arguments = [
      "capture", scratch.path("b.mp4"), "--source",
      "filesrc location=\(scratch.path("in/pipe")) ! rawvideoparse width=16 height=16",
    ]
    var writer: Int32 = -1
    let result = try Command.run(arguments) { process, _ in
      // filesrc blocks in a read from the pipe until there is data, and cannot be interrupted.
      while writer < 0, process.isRunning { writer = open(scratch.path("in/pipe"), O_WRONLY | O_NONBLOCK | O_CLOEXEC) }
      // The first signal cancels the work. A signal that comes 0.2 s later counts as the second
      // one.
      while process.isRunning { kill(process.processIdentifier, signal) }
    }
    if writer >= 0 { close(writer) }
    #expect(result.status == 128 + signal, "\(result.errors)")
  }

  private func runner(memory: ByteCount = ByteCount(8 << 30)) -> ChildRunner {
    ChildRunner(
      program: Command.url.path, arguments: ["child"], limits: ChildLimits(silence: .seconds(300), memory: memory))
  }

  @Test("a child that takes too much memory is killed")
  func memory() async throws {
    try #require(mkfifo(scratch.path("in/a.mp4"), 0o600) == 0)
    let reversal = runner(memory: ByteCount(1 << 20)).start(
      .reverse(inputs: [scratch.path("in/a.mp4")], ReverseOptions(), output: scratch.path("out/a.mp4"))
    ) { _ in }
    let error = await #expect(throws: RetrogradeError.self) { try await reversal.summary() }
    #expect(error?.code == .crashed && error?.subject == scratch.path("in/a.mp4"))
    #expect(error?.description.contains("used more than \(ByteCount(1 << 20)) of memory and was killed") ?? false)
  }

  @Test("memory limits of children grow with --memory and with the machine's memory")
  func limits() {
    func limit(_ budget: Int, _ count: Int, _ machine: Int) -> Int {
      ChildLimits.memory(budget: ByteCount(budget), sharedBy: count, machine: ByteCount(machine)).bytes
    }
    #expect(limit(512 << 20, 2, 4 << 30) == 4 << 30)
    #expect(limit(1 << 30, 2, 4 << 30) == 6 << 30)
    #expect(limit(512 << 20, 2, 64 << 30) == 16 << 30)
    #expect(limit(.max, 0, .max) > 0)
  }

  @Test("a child process and the test process make the same segments")
  func segments() throws {
    try makeClip("in/a.mp4", frames: 60)
    let path = scratch.path("in/a.mp4")
    let none = Cancellation()
    let child = try ChildMirror(path, SegmentedMirror.Settings(), runner(), none) { _ in }
    let own = try SegmentedMirror(path, SegmentedMirror.Settings(), none)
    #expect(child.duration == own.duration && child.frameTimes == own.frameTimes)
    #expect(child.frameStarts == own.frameStarts && child.frameStarts.count == 60)
    #expect(child.renditions.map(\.name) == own.renditions.map(\.name) && child.renditions.count == 2)
    for rendition in own.renditions.indices {
      #expect(child.renditions[rendition].segments == own.renditions[rendition].segments)
      #expect(try child.initialization(rendition, none) == own.initialization(rendition, none))
      #expect(child.pieces(ofSegment: 0, of: rendition) == own.pieces(ofSegment: 0, of: rendition))
      let bytes = (ByteCollector(), ByteCollector())
      try child.segment(0, from: 0, of: rendition, none, bytes.0.add)
      try own.segment(0, from: 0, of: rendition, none, bytes.1.add)
      #expect(bytes.0.all == bytes.1.all && !bytes.0.all.isEmpty)
    }
    #expect(try child.waveform(0..<100, of: 100, none) == own.waveform(0..<100, of: 100, none))
    // At this height, the width is a multiple of 16. At other widths, jpegenc encodes row padding,
    // whose bytes may differ between the processes.
    let picture = try child.picture(at: ClockTime(seconds: 1), height: 48, isExact: true, none)
    #expect(try picture == own.picture(at: ClockTime(seconds: 1), height: 48, isExact: true, none))
    let error = #expect(throws: RetrogradeError.self) { try child.segment(99, from: 0, of: 0, none) { _ in } }
    #expect(error?.code == .usage)
    let stopped = Cancellation()
    stopped.cancel()
    #expect(throws: CancellationError.self) { try child.segment(0, from: 0, of: 0, stopped) { _ in } }
    #expect(!child.hasEnded)
  }
}

/// Collects bytes from several threads.
private final class ByteCollector: Sendable {
  private let bytes = Mutex<[UInt8]>([])
  var all: [UInt8] { bytes.withLock { $0 } }
  func add(_ more: [UInt8]) { bytes.withLock { $0 += more } }
}
