import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
import RetrogradePlayer
@testable import RetrogradeEngine

/// Captures from live sources that exist on every machine.
@Suite struct CaptureTests {
  private static let camera =
    "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=64,height=48,framerate=50/1"

  private func capture(frames: Int?, _ change: (inout Capture) -> Void = { _ in }) -> Capture {
    var capture = Capture(source: CaptureTests.camera)
    capture.frames = frames
    capture.options.encoding.quality = .lossless
    capture.options.playback.loop = .pingPong
    change(&capture)
    return capture
  }

  /// Returns the grey pixels of every frame.
  private func frames(_ path: String) throws -> [[UInt8]] {
    try DecodedMedia.buffers(
      of: "filesrc location=\(path) ! matroskademux ! decodebin ! videoconvert ! video/x-raw,format=GRAY8")
  }

  @Test("a live source becomes a boomerang")
  func boomerang() async throws {
    let folder = try TemporaryFolder()
    let summary = try await capture(frames: 20).start(to: folder.path("a.mkv")).reversal.summary()
    #expect(summary.captured == 20 && summary.frames == 39)
    #expect(summary.warnings.isEmpty)
    let found = try frames(folder.path("a.mkv"))
    #expect(found.count == 39)
    let isSymmetric = found == found.reversed()
    #expect(isSymmetric, "the same frames backwards")
    #expect(Set(found.prefix(20)).count > 10, "the ball moves")
    #expect(folder.names == ["a.mkv"])
  }

  @Test("frames beyond the memory budget go to the spool")
  func spooledFrames() async throws {
    let folder = try TemporaryFolder()
    let summary = try await capture(frames: 40) { $0.options.resources.memory = ByteCount(48_000) }
      .start(to: folder.path("a.mkv")).reversal.summary()
    #expect(summary.captured == 40 && summary.frames == 79 && summary.peakMemory <= 48_000)
  }

  @Test("audio is captured with the video")
  func capturedAudio() async throws {
    let folder = try TemporaryFolder()
    let summary = try await capture(frames: nil) { capture in
      capture.duration = ClockTime(seconds: 0.5)
      capture.countdown = ClockTime(seconds: 0.2)
      capture.microphone = "audiotestsrc is-live=true ! audio/x-raw,rate=8000,channels=1"
      capture.options.playback.loop = .reverse
    }.start(to: folder.path("a.mkv")).reversal.summary()
    #expect(summary.captured == 25)
    // The number of samples is exact to one buffer of 1,024 samples.
    #expect(abs((summary.samples.first ?? 0) - 4000) <= 1024)
  }

  /// A source that does not wait for the clock fills every queue long before the capture ends.
  @Test("a source that does not wait for the clock is stopped")
  func unsyncedSource() async throws {
    let folder = try TemporaryFolder()
    let summary = try await capture(frames: 5) { capture in
      capture.source = "videotestsrc ! video/x-raw,width=64,height=48"
      capture.microphone = "audiotestsrc is-live=true ! audio/x-raw,rate=8000,channels=1"
    }.start(to: folder.path("a.mkv")).reversal.summary()
    #expect(summary.captured == 5)
  }

  @Test("a strict capture with a warning leaves no file")
  func strictCapture() async throws {
    let folder = try TemporaryFolder()
    func record(isStrict: Bool) async throws -> Summary {
      try await capture(frames: 10) { capture in
        capture.options.output.isStrict = isStrict
        capture.source =
          "concat name=c videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=64,height=48,pixel-aspect-ratio=1/1 ! c. "
          + "videotestsrc ! video/x-raw,format=I420,width=64,height=48,pixel-aspect-ratio=2/1 ! c. c."
      }.start(to: folder.path("a.mkv")).reversal.summary()
    }
    let error = await #expect(throws: RetrogradeError.self) { try await record(isStrict: true) }
    #expect(error?.code == .damagedInput, "\(String(describing: error))")
    #expect(folder.names.isEmpty)
    #expect(try await record(isStrict: false).warnings.map(\.code) == [.converted])
  }

  @Test("stopping writes the clip, and cancelling writes nothing")
  func stopAndCancel() async throws {
    let folder = try TemporaryFolder()
    let session = capture(frames: nil).start(to: folder.path("a.mkv"))
    for await progress in session.reversal.progress where progress.stage == .capturing && progress.done >= 5 {
      session.stop()
    }
    let summary = try await session.reversal.summary()
    #expect((summary.captured ?? 0) >= 5)
    #expect(try frames(folder.path("a.mkv")).count == summary.frames)

    let other = capture(frames: nil).start(to: folder.path("b.mkv"))
    for await progress in other.reversal.progress where progress.stage == .capturing { other.reversal.cancel() }
    await #expect(throws: CancellationError.self) { try await other.reversal.summary() }
    #expect(folder.names == ["a.mkv"])
  }

  @Test("lost frames are counted by frame number or by timestamp")
  func lostFrameCount() {
    func lost(_ frames: [(milliseconds: Int64, number: Int?)]) -> Int {
      var count = FrameCount()
      for (time, number) in frames { count.add(ClockTime(nanoseconds: time * 1_000_000), number: number) }
      return count.lost
    }
    #expect(lost([(0, 7), (40, 8), (160, 11), (200, 12), (400, 17)]) == 6)
    #expect(lost([(0, nil), (40, nil), (161, nil), (199, nil), (400, nil)]) == 6)
    #expect(lost([(0, 3), (40, 3), (80, 2), (120, 3)]) == 0, "numbers that do not increase are ignored")
    // The frame numbers of the first list are impossible, and their sum would overflow. In the
    // second list, the last timestamp is impossible.
    #expect(lost([(0, 0), (40, .max), (80, 0), (120, .max), (160, 0), (200, .max)]) >= 0)
    #expect(lost([(0, nil), (1, nil), (1 << 40, nil)]) == 0)
  }

  /// A source that numbers its frames and drops nine in ten. The chance that nine consecutive
  /// frames are all kept is one in a billion.
  @Test("frames lost by the source are reported")
  func lostFrames() async throws {
    let folder = try TemporaryFolder()
    let summary = try await capture(frames: 10) { capture in
      capture.source += " ! identity drop-probability=0.9"
    }.start(to: folder.path("a.mkv")).reversal.summary()
    #expect(summary.captured == 10)
    #expect(summary.warnings.contains { $0.code == .lost })
  }

  @Test("an unusable source is refused")
  func unusableSource() async throws {
    let folder = try TemporaryFolder()
    for source in ["nosuchelement", "v4l2src device=/dev/none"] {
      var capture = Capture(source: source)
      capture.frames = 5
      let session = capture.start(to: folder.path("a.mp4"))
      let error = await #expect(throws: RetrogradeError.self) { try await session.reversal.summary() }
      #expect(error.map { [.noInput, .missingPlugin].contains($0.code) } == true)
    }
    #expect(folder.names.isEmpty)
  }
}

@Suite struct PlayerTests {
  private func player(_ input: String, isEndless: Bool = false) -> Player {
    Player(
      input, playback: PlaybackOptions(loop: .pingPong), isEndless: isEndless, videoSink: "fakesink sync=true",
      audioSink: "fakesink sync=true")
  }

  @Test func playsToTheEnd() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(10, rate: 50)
    media.sampleCount = 9600
    try await player(try media.write(to: folder)).run()
  }

  @Test("endless playback can seek, pause and stop")
  func endlessPlayback() async throws {
    let folder = try TemporaryFolder()
    let player = player(try TestMedia.matroska.write(to: folder), isEndless: true)
    let positions = Positions()
    try await player.run { event in
      guard case .position(let position, _, let isPaused) = event, position > .zero else { return }
      switch positions.add(position) {
      case 1: player.seek(by: .seconds(100))
      case 2: player.togglePause()
      case 3:
        #expect(isPaused)
        player.togglePause()
      case 4: player.stop()
      default: break
      }
    }
    #expect(positions.last.seconds >= 100, "each round is four seconds long")
  }

  @Test("unplayable and missing files are refused")
  func unplayableFiles() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("text.mp4")
    try Data("no film".utf8).write(to: URL(fileURLWithPath: path))
    let error = await #expect(throws: RetrogradeError.self) { try await player(path).run() }
    #expect(error?.code == .damagedInput)
    let missing = await #expect(throws: RetrogradeError.self) { try await player(folder.path("none")).run() }
    #expect(missing?.code == .noInput)
  }

  @Test("a pipe is read once and played to the end")
  func pipeInput() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(10, rate: 50)
    media.sampleCount = 9600
    let source = try media.write(to: folder)
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let writer = Thread {
      let bytes = FileManager.default.contents(atPath: source)
      try? bytes?.write(to: URL(fileURLWithPath: pipe))
    }
    writer.start()
    try await player(pipe).run()
  }

  /// The pipe has no writer.
  @Test("stopping and cancelling end the wait for a pipe")
  func pipeWithoutWriter() async throws {
    let folder = try TemporaryFolder()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    let stopped = player(pipe)
    async let playing: Void = stopped.run()
    stopped.stop()
    try await playing
    let cancelled = player(pipe)
    let task = Task { try await cancelled.run() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let reversal = Reverser(pipe).start(to: folder.path("m.mkv"))
    reversal.cancel()
    await #expect(throws: CancellationError.self) { try await reversal.summary() }
    #expect(folder.names == ["pipe"])
  }

  private final class Positions: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [ClockTime] = []
    func add(_ position: ClockTime) -> Int {
      lock.withLock {
        list.append(position)
        return list.count
      }
    }
    var last: ClockTime { lock.withLock { list.last ?? .zero } }
  }
}
