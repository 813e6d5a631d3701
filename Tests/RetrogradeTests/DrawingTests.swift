import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde

@Suite struct DrawingTests {
  /// Draws the frame's number as a pattern of blocks, like TestMedia.
  private func drawing(_ number: Int) -> @Sendable (DrawingContext) -> Void {
    { context in
      let (width, height) = (context.size.width / 4, context.size.height / 4)
      for block in 0..<16 {
        let light = number >> block & 1 == 1 ? 210.0 : 40.0
        context.fill(
          Path(Rectangle(x: Double(block % 4) * width, y: Double(block / 4) * height, width: width, height: height)),
          with: .color(Color(white: light / 255)))
      }
    }
  }

  @Test(
    "a movie is drawn and looped",
    arguments: [
      (Loop.forward, Array(0..<20)), (.reverse, Array((0..<20).reversed())),
      (.pingPong, Array(0..<20) + (0..<19).reversed()),
    ])
  func drawnMovie(_ loop: Loop, _ order: [Int]) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.mp4")
    let movie = try await MovieWriter(path, width: 96, height: 64, frameRate: .usual, loop: loop)
    for number in 0..<20 { try await movie.add(drawing(number)) }
    let summary = try await movie.finish()
    #expect(summary.frames == order.count)
    let read = try DecodedMedia(path, like: TestMedia())
    #expect(read.numbers == order)
    #expect(read.times == order.indices.map { ClockTime(nanoseconds: Int64($0) * 40_000_000) })
    #expect(read.videoCaps?.string("format") == "I420", "players take no other")
  }

  @Test("frames added by concurrent tasks are all written", arguments: [Loop.forward, .reverse])
  func concurrentTasks(loop: Loop) async throws {
    let folder = try TemporaryFolder()
    let movie = try await MovieWriter(
      folder.path("movie.mp4"), width: 96, height: 64, frameRate: .usual, loop: loop)
    try await withThrowingTaskGroup { group in
      for number in 0..<100 { group.addTask { try await movie.add(drawing(number)) } }
      try await group.waitForAll()
    }
    #expect(try await movie.finish().frames == 100)
    let read = try DecodedMedia(folder.path("movie.mp4"), like: TestMedia())
    #expect(read.numbers.sorted() == Array(0..<100))
    #expect(read.times == (0..<100).map { ClockTime(nanoseconds: $0 * 40_000_000) })
  }

  /// The next frame gets the presentation time of the failed frame.
  @Test("a frame that fails to draw is left out")
  func failedFrame() async throws {
    let folder = try TemporaryFolder()
    let movie = try await MovieWriter(folder.path("movie.mp4"), width: 96, height: 64, frameRate: .usual)
    try await movie.add(drawing(1))
    await #expect(throws: DrawingError.self) { try await movie.add { _ in throw DrawingError(message: "no") } }
    try await movie.add(drawing(2))
    #expect(try await movie.finish().frames == 2)
    await #expect(throws: RetrogradeError.self) { try await movie.finish() }
    let read = try DecodedMedia(folder.path("movie.mp4"), like: TestMedia())
    #expect(read.numbers == [1, 2])
    #expect(read.times == [.zero, ClockTime(nanoseconds: 40_000_000)])
  }

  @Test("text is measured for any width")
  func anyTextWidth() throws {
    var pixels = [UInt8](repeating: 0, count: 64 * 16 * 4)
    try pixels.withUnsafeMutableBytes { bytes in
      try DrawingContext.draw(on: bytes, width: 64, height: 16, hasAlpha: true) { context in
        let text = Text("one two three four", font: "Sans 10")
        let line = context.size(of: text, width: .infinity)
        #expect(line == context.size(of: text, width: 1e300))
        #expect(line == context.size(of: text, width: .nan))
        #expect(context.size(of: text, width: -.infinity).height > line.height)
        #expect(context.size(of: text, width: 0).height > line.height)
      }
    }
  }

  @Test("pixels and image files can be added as frames")
  func pixelsAndImages() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(3, rate: 25)
    try await Reverser(try media.write(to: folder)).reverse(to: folder.path("%d.png"))
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let movie = try await MovieWriter(
      folder.path("movie.mkv"), width: 96, height: 64, frameRate: .usual, options: options)
    for number in 1...3 { try await movie.add(imageAt: folder.path("\(number).png")) }
    try await movie.add(pixels: [UInt8](repeating: 255, count: 96 * 64 * 4))
    await #expect(throws: RetrogradeError.self) { try await movie.add(pixels: [1, 2, 3]) }
    await #expect(throws: RetrogradeError.self) { try await movie.add(imageAt: folder.path("none.png")) }
    try await movie.finish()
    #expect(try DecodedMedia(folder.path("movie.mkv"), like: TestMedia()).numbers == [2, 1, 0, 0xFFFF])
    await #expect(throws: RetrogradeError.self) { try await movie.add { $0.fill(.white) } }
  }

  @Test("a movie is encoded with an encoding profile")
  func profile() async throws {
    let folder = try TemporaryFolder()
    var options = ReverseOptions()
    options.encoding.profile = "video/webm:video/x-vp8"
    let movie = try await MovieWriter(
      folder.path("movie.webm"), width: 96, height: 64, frameRate: .usual, options: options)
    for number in 0..<5 { try await movie.add(drawing(number)) }
    try await movie.finish()
    let report = try await Reverser(folder.path("movie.webm")).plan()
    #expect(report.streams.map(\.codec) == ["VP8"])
  }

  @Test("an unfinished movie leaves no file")
  func unfinishedMovie() async throws {
    let folder = try TemporaryFolder()
    do {
      let movie = try await MovieWriter(folder.path("movie.mp4"), width: 96, height: 64, frameRate: .usual)
      try await movie.add(drawing(1))
      await #expect(throws: DrawingError.self) { try await movie.add { _ in throw DrawingError(message: "no") } }
    }
    #expect(folder.names.isEmpty)
    let empty = try await MovieWriter(folder.path("empty.mp4"), width: 96, height: 64, frameRate: .usual)
    await #expect(throws: RetrogradeError.self) { try await empty.finish() }
    #expect(folder.names.isEmpty)
  }

  /// Reads the luma of the first frame, as stored in the file.
  private func luma(_ path: String) throws -> [UInt8] {
    let pipeline = try Pipeline(
      "filesrc location=\(path) ! decodebin ! video/x-raw ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=out sync=false"
    )
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    let sample = try #require(try pipeline.appSink("out").pull(timeout: ClockTime(seconds: 20)))
    return try sample.buffer.withBytes { Array($0) }
  }

  /// A square in the upper left corner of the displayed frame.
  private let corner: Overlay = { context, _ in
    context.fill(Path(Rectangle(x: 0, y: 0, width: 16, height: 16)), with: .color(.white))
  }

  @Test(
    "an overlay is upright for any orientation tag, and changes only the drawn pixels",
    arguments: [
      (nil as String?, 0, 0), ("rotate-90", 0, 63), ("rotate-180", 95, 63), ("rotate-270", 95, 0),
      ("flip-rotate-0", 95, 0), ("flip-rotate-90", 95, 63), ("flip-rotate-180", 0, 63), ("flip-rotate-270", 0, 0),
    ])
  func uprightOverlay(_ orientation: String?, _ x: Int, _ y: Int) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(4, rate: 25)
    media.name = "source.mov"
    media.muxer = "qtmux"
    media.orientation = orientation
    let source = try media.write(to: folder)
    var reverser = Reverser(source)
    reverser.options.encoding.quality = .lossless
    try await reverser.reverse(to: folder.path("plain.mov"))
    reverser.overlay = corner
    try await reverser.reverse(to: folder.path("drawn.mov"))
    let plain = try luma(folder.path("plain.mov"))
    let drawn = try luma(folder.path("drawn.mov"))
    let changed = plain.indices.filter { abs(Int(plain[$0]) - Int(drawn[$0])) > 3 }
    let (left, top) = (x == 0 ? 0 : 80, y == 0 ? 0 : 48)
    let isInside = changed.allSatisfy { (left..<left + 16).contains($0 % 96) && (top..<top + 16).contains($0 / 96) }
    #expect(isInside && changed.count > 200)
    #expect(drawn[y * 96 + x] > 230)
  }

  @Test("an overlay receives the time in the source and the time in the output")
  func overlayTimes() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(5, rate: 25)
    let log = FrameLog()
    var reverser = Reverser(try media.write(to: folder))
    reverser.options.playback.loop = .pingPong
    reverser.overlay = { _, frame in log.add(frame) }
    try await reverser.reverse(to: folder.path("out.mkv"))
    let frames = log.frames
    #expect(frames.map(\.number) == Array(0..<9))
    #expect(frames.map { $0.sourceTime.nanoseconds / 40_000_000 } == [0, 1, 2, 3, 4, 3, 2, 1, 0])
    #expect(frames.map(\.direction) == Array(repeating: .forward, count: 5) + Array(repeating: .backward, count: 4))
    #expect(frames.map { $0.time.nanoseconds / 40_000_000 } == Array(0..<9))
  }

  private final class FrameLog: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [OverlayFrame] = []
    func add(_ frame: OverlayFrame) { lock.withLock { list.append(frame) } }
    var frames: [OverlayFrame] { lock.withLock { list } }
  }

  @Test("a title delays video and audio by the same time")
  func titleFirst() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(50, rate: 25)
    media.sampleCount = 96_000
    var reverser = Reverser(try media.write(to: folder))
    reverser.options.encoding.quality = .lossless
    reverser.title = Title(duration: ClockTime(seconds: 0.4)) { context, _ in context.fill(.white) }
    try await reverser.reverse(to: folder.path("out.mkv"))
    let read = try DecodedMedia(folder.path("out.mkv"), like: media)
    #expect(read.numbers == Array(repeating: 0xFFFF, count: 10) + (0..<50).reversed())
    #expect(read.times == (0..<60).map { ClockTime(nanoseconds: $0 * 40_000_000) })
    #expect(read.audioStart == ClockTime(nanoseconds: 400_000_000))
    // The duration in the MP4 header includes the title.
    reverser.options.encoding.quality = .source
    try await reverser.reverse(to: folder.path("out.mp4"))
    #expect(try DecodedMedia(folder.path("out.mp4"), like: media).numbers == read.numbers)
  }

  @Test("a cancelled movie leaves no file")
  func cancelledMovie() async throws {
    let folder = try TemporaryFolder()
    let movie = try await MovieWriter(folder.path("movie.mp4"), width: 96, height: 64, frameRate: .usual)
    try await movie.add(drawing(1))
    movie.cancel()
    await #expect(throws: CancellationError.self) { try await movie.finish() }
    #expect(folder.names.isEmpty)
  }

  @Test("text is measured and wrapped into lines")
  func wrappedText() throws {
    var pixels = [UInt8](repeating: 0, count: 200 * 200 * 4)
    try pixels.withUnsafeMutableBytes { bytes in
      try DrawingContext.draw(on: bytes, width: 200, height: 200, hasAlpha: true) { context in
        let text = Text("one two three four five six", font: "Sans 20", outline: (.black, 2))
        let wide = context.size(of: text, width: 2000)
        let narrow = context.draw(text, in: Rectangle(x: 0, y: 0, width: 100, height: 200))
        #expect(narrow.height >= 2 * wide.height && narrow.width <= 100)
      }
    }
    let hasInk = pixels.contains { $0 != 0 }
    #expect(hasInk)
  }
}
