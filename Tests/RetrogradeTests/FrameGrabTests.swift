import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Single frames, written as images.
@Suite struct FrameGrabTests {
  private func numbers(_ names: [String], _ media: TestMedia, _ folder: TemporaryFolder) throws -> [Int] {
    try names.flatMap { try DecodedMedia(folder.path($0), like: media).numbers }
  }

  @Test(
    "the frame that is shown at a position is written",
    arguments: [("0", 0), ("1.0s", 30), ("0.9999", 29), ("17f", 17), ("end", 59), ("end-0.5", 45)])
  func frameAtPosition(_ text: String, _ number: Int) async throws {
    let place = try #require(SourcePosition(parsing: text))
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    let source = try media.write(to: folder)
    let summary = try await FrameGrab(source, at: [place]).write(to: folder.path("x.png"))
    #expect(summary.frames == 1 && summary.warnings.isEmpty, "\(summary.warnings)")
    media.sampleCount = 0
    #expect(try numbers(["x.png"], media, folder) == [number])
    #expect(Set(folder.names) == ["source.mkv", "x.png"])
  }

  @Test("several frames are written in the requested order, including repeated ones")
  func severalFrames() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.sampleCount = 96_000
    let source = try media.write(to: folder)
    try await FrameGrab(source, at: [.end, .frame(3), 0.5, .frame(4), .frame(3), .frame(3)]).write(
      to: folder.path("f-%d.png"))
    media.sampleCount = 0
    #expect(try numbers((1...6).map { "f-\($0).png" }, media, folder) == [59, 3, 15, 4, 3, 3])
  }

  @Test("the frame that a GIF shows at a position is written", arguments: ["0", "0f", "0.04", "1f", "last"])
  func framesOfGIF(_ text: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("a.gif")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=1", source])
    let all = try FFmpeg.frames(source).map(\.sum)
    let place = try #require(SourcePosition(parsing: text == "last" ? "end" : text))
    try await FrameGrab(source, at: [place]).write(to: folder.path("x.png"))
    #expect(try FFmpeg.frames(folder.path("x.png")).map(\.sum) == [all[["1f": 1, "last": 9][text] ?? 0]])
  }

  @Test("a grabbed frame equals the image that `reverse` writes")
  func sameAsReverse() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.orientation = "rotate-90"
    let source = try media.write(to: folder)
    try await Reverser(source).reverse(to: folder.path("all/%d.png"))
    try await FrameGrab(source, at: [.frame(20)]).write(to: folder.path("x.png"))
    let count = (try? FileManager.default.contentsOfDirectory(atPath: folder.path("all")))?.count ?? 0
    let (one, same) = (folder.path("x.png"), folder.path("all/\(count - 20).png"))
    #expect(FileManager.default.contents(atPath: one) == FileManager.default.contents(atPath: same))
    let read = try DecodedMedia(
      one,
      like: {
        var shown = media; shown.sampleCount = 0; return shown
      }())
    #expect(read.videoCaps?.int("width") == 64 && read.videoCaps?.int("height") == 96, "upright")
  }

  /// Only the packets around the frame are indexed, and only one ``Window`` is decoded.
  @Test("a frame of a long file is read without a full index")
  func longFile() throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(600, rate: 10)
    media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast pass=qual quantizer=25 ! h264parse"
    (media.sampleCount, media.rate) = (60 * 16_000, 16_000)
    let settings = PlaybackSettings(
      PlaybackOptions(loop: .forward), count: 1, resources: Resources(), cancellation: Cancellation())
    let opened = try OpenedSource(try media.write(to: folder), settings)
    let source = try PlayableSource(opened, framesAt: [40.05], settings) { _ in }
    let video = try #require(source.video)
    #expect((video.video.starts?.count ?? 600) < 100 && video.plan.windows.count == 1)
    let player = VideoPlayer(video, source.legs, timing: .mirror, Cancellation())
    let frame = try #require(try player.next())
    let next = try player.next()
    #expect(frame.source.start == .seconds(40) && next == nil)
  }

  @Test("frames of animations and numbered images are written")
  func animationsAndSequences() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(6, rate: 10)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.playback.loop = .forward
    let source = try media.write(to: folder)
    for (number, name) in ["a.webp", "a.apng", "a.gif", "a/%d.png"].enumerated() {
      try await Reverser(source, options: options).reverse(to: folder.path(name))
      var slow = ReverseOptions()
      slow.playback.sequenceRate = 10
      try await FrameGrab(folder.path(name), at: [0.25, .end], options: slow).write(
        to: folder.path("f\(number)-%d.png"))
      #expect(try numbers(["f\(number)-1.png", "f\(number)-2.png"], media, folder) == [2, 5], "\(name)")
    }
  }

  /// Before and after the video, while only audio plays, the nearest frame is the first or the last
  /// one.
  @Test("a position outside the video gives the nearest frame")
  func positionsOutsideVideo() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(20, rate: 10).map { $0 + .seconds(1) }
    media.sampleCount = 4 * 48_000
    let source = try media.write(to: folder)
    try await FrameGrab(source, at: [0.2, 1.25, 3.5]).write(to: folder.path("f%d.png"))
    media.sampleCount = 0
    #expect(try numbers(["f1.png", "f2.png", "f3.png"], media, folder) == [0, 2, 19])
  }

  @Test("a frame of an audio file is refused")
  func audioHasNoFrames() async throws {
    let folder = try TemporaryFolder()
    let source = try TestMedia.audioOnly("a.wav", muxer: "wavenc", sampleCount: 4800).write(to: folder)
    let error = await #expect(throws: RetrogradeError.self) {
      try await FrameGrab(source, at: [0]).write(to: folder.path("x.png"))
    }
    #expect(
      error?.code == .usage && error?.message.description.contains("no frame") == true, "\(String(describing: error))")
    #expect(folder.names == ["a.wav"])
  }
}
