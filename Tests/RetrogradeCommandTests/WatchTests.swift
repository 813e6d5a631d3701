import Foundation
import Synchronization
import Testing

@testable import RetrogradeCommand

/// `reverse --watch`: each complete new file is reversed once.
@Suite struct WatchTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    for name in ["in", "made"] {
      try FileManager.default.createDirectory(at: scratch.url.appending(path: name), withIntermediateDirectories: true)
    }
    try Command.makeClip(scratch.path("made/clip.mp4"), frames: 10)
  }

  private var clip: Data { get throws { try Data(contentsOf: scratch.url.appending(path: "made/clip.mp4")) } }

  /// Returns name and stage of the next event, or nil if the output ends. Files give `a.mp4 done`
  /// or `a.mp4 failed`, and the watched folder gives `in watching`.
  private static func next(_ nextLine: () -> String?) -> String? {
    while let line = nextLine() {
      guard let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
        let stage = event["stage"] as? String, ["done", "failed", "watching"].contains(stage)
      else { continue }
      let name = (event["input"] as? String ?? event["folder"] as? String ?? "").split(separator: "/").last ?? ""
      return "\(name) \(stage)"
    }
    return nil
  }

  /// Runs `reverse --watch` while `body` runs, and then ends the command with SIGINT, like Ctrl-C.
  private func watch(_ arguments: String..., body: @escaping (() -> String?) throws -> Void) throws -> Command.Result {
    var failure: (any Error)?
    let result = try Command.run(
      ["reverse", "--watch", scratch.path("in"), "--into", scratch.path("out"), "--progress", "json", "--jobs", "1"]
        + arguments
    ) { process, nextLine in
      do {
        #expect(WatchTests.next(nextLine) == "in watching")
        try body(nextLine)
      } catch {
        failure = error
      }
      kill(process.processIdentifier, SIGINT)
    }
    if let failure { throw failure }
    #expect(result.status == 130)
    return result
  }

  private func copy(to name: String) throws { try clip.write(to: scratch.url.appending(path: name)) }

  private var outputs: Set<String> {
    Set((try? FileManager.default.contentsOfDirectory(atPath: scratch.path("out"))) ?? []).subtracting([
      ".retrograde-watch"
    ])
  }

  @Test("each complete file is reversed once")
  func completeFiles() throws {
    try copy(to: "in/there.mp4")
    _ = try watch { lines in
      #expect(WatchTests.next(lines) == "there.mp4 done")
      // Writes the first half of a file, and keeps the file open for writing.
      let bytes = try clip
      let descriptor = open(scratch.path("in/slow.mp4"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try file.write(contentsOf: bytes.prefix(bytes.count / 2))
      try FileManager.default.moveItem(atPath: scratch.path("made/clip.mp4"), toPath: scratch.path("in/moved.mp4"))
      #expect(WatchTests.next(lines) == "moved.mp4 done")
      try file.write(contentsOf: bytes.suffix(from: bytes.count / 2))
      try file.close()
      #expect(WatchTests.next(lines) == "slow.mp4 done")
    }
    #expect(outputs == ["there.mp4", "moved.mp4", "slow.mp4"])
    // After a restart, an output that the user has removed is not written again.
    try FileManager.default.removeItem(atPath: scratch.path("out/there.mp4"))
    _ = try watch { lines in
      try FileManager.default.copyItem(atPath: scratch.path("in/moved.mp4"), toPath: scratch.path("in/new.mp4"))
      #expect(WatchTests.next(lines) == "new.mp4 done")
    }
    #expect(outputs == ["new.mp4", "moved.mp4", "slow.mp4"])
  }

  @Test("a damaged file is reported, and not retried until it changes")
  func damagedFile() throws {
    try Data(clip.prefix(200)).write(to: scratch.url.appending(path: "in/a.mp4"))
    try Data("No media".utf8).write(to: scratch.url.appending(path: "in/readme.txt"))
    _ = try watch { lines in #expect(WatchTests.next(lines) == "a.mp4 failed") }
    _ = try watch { lines in
      // The damaged file is not retried, so the next finished file is another one.
      try copy(to: "in/b.mp4")
      #expect(WatchTests.next(lines) == "b.mp4 done")
      try copy(to: "in/a.mp4")
      #expect(WatchTests.next(lines) == "a.mp4 done")
    }
    #expect(outputs == ["a.mp4", "b.mp4"])
  }

  @Test("an empty file is not reversed until it has content")
  func emptyFiles() throws {
    try Data().write(to: scratch.url.appending(path: "in/a.mp4"))
    _ = try watch { lines in
      try Data().write(to: scratch.url.appending(path: "in/b.mp4"))
      try copy(to: "in/c.mp4")
      #expect(WatchTests.next(lines) == "c.mp4 done")
      try copy(to: "in/a.mp4")
      #expect(WatchTests.next(lines) == "a.mp4 done")
    }
    #expect(outputs == ["a.mp4", "c.mp4"])
  }

  @Test("hidden and .part files are not reversed until they have their final names")
  func partialFiles() throws {
    _ = try watch { lines in
      try copy(to: "in/.a.mp4")
      try copy(to: "in/a.mp4.part")
      try copy(to: "in/b.mp4")
      #expect(WatchTests.next(lines) == "b.mp4 done")
      try FileManager.default.moveItem(atPath: scratch.path("in/a.mp4.part"), toPath: scratch.path("in/a.mp4"))
      #expect(WatchTests.next(lines) == "a.mp4 done")
    }
    #expect(outputs == ["a.mp4", "b.mp4"])
  }

  @Test("the watch ends if its folder is removed")
  func removedFolder() throws {
    let result = try Command.run(
      ["reverse", "--watch", scratch.path("in"), "--into", scratch.path("out"), "--progress", "json"]
    ) { _, nextLine in
      _ = nextLine()
      try? FileManager.default.removeItem(atPath: scratch.path("in"))
    }
    #expect(
      result.status == 66 && result.errors.contains("in: the watched folder was removed"), "\(result.errors)")
  }

  @Test("the watch ends if its events can't be read")
  func unreadableEvents() throws {
    // poll(2) always reports a folder as readable, but read(2) always fails.
    let folder = open(scratch.path("in"), O_RDONLY)
    var pair: [Int32] = [-1, -1]
    let isPiped = pipe(&pair) == 0
    try #require(folder >= 0 && isPiped)
    let (end, stop) = (pair[0], pair[1])
    let isGone = Mutex(false)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      FolderWatch.wait(folder, until: end) { if case .gone = $0 { isGone.withLock { $0 = true } } }
      ended.signal()
    }
    let isEnded = ended.wait(timeout: .now() + 20) == .success
    close(stop)
    if !isEnded { ended.wait() }
    for descriptor in [folder, end] { close(descriptor) }
    let isReported = isGone.withLock { $0 }
    #expect(isEnded && isReported)
  }

  @Test("the watched folder is refused as the output folder")
  func outputInWatchedFolder() throws {
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path("link"), withDestinationPath: scratch.path("in"))
    let result = try Command.run(["reverse", "--watch", scratch.path("in"), "--into", scratch.path("link")])
    #expect(result.status == 64 && result.errors.contains("would be reversed again"))
    #expect(try Command.run(["reverse", "--watch", scratch.path("none"), "--into", scratch.path("out")]).status == 66)
    #expect(try Command.run(["reverse", "--watch", scratch.path("in")]).status == 64)
    #expect(scratch.names == ["in", "made", "link"])
  }
}
