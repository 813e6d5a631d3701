import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Duration of the last frame.
@Suite struct LastFrameTests {
  /// Returns a video of twenty frames at 10 fps; the last one lasts 1.57 s. Uses no parser, because
  /// a parser could drop that duration.
  private func film(_ name: String, _ muxer: String) -> TestMedia {
    var media = TestMedia()
    media.times = TestMedia.regular(19, rate: 10) + [ClockTime(nanoseconds: 3_470_000_000)]
    media.video = "x264enc key-int-max=20 bframes=0 pass=qual quantizer=18"
    (media.name, media.muxer) = (name, muxer)
    return media
  }

  @Test("fragmented MP4 with B-frames and no edit list keeps its last frames")
  func fragments() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.mp4")
    try run(
      pipeline: "videotestsrc num-buffers=50 ! video/x-raw,format=I420,width=64,height=64,framerate=25/1 ! "
        + "x264enc key-int-max=25 bframes=2 ! mp4mux fragment-duration=1000 ! filesink location=\(path)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).range(of: Data("mehd".utf8)) != nil)
    let summary = try await Reverser(path).reverse(to: folder.path("m.mkv"))
    #expect(summary.frames == 50 && summary.warnings.isEmpty)
  }

  @Test(
    "a long last frame keeps its duration at the start of the mirror",
    arguments: [("s.mp4", "mp4mux"), ("s.mov", "qtmux"), ("s.mkv", "matroskamux")], ["o.mp4", "o.mov", "o.mkv"])
  func longLastFrame(_ source: (name: String, muxer: String), _ output: String) async throws {
    let folder = try TemporaryFolder()
    let path = try film(source.name, source.muxer).write(to: folder)
    let summary = try await Reverser(path).reverse(to: folder.path(output))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(abs(summary.duration.seconds - 3.47) < 0.001)
    let times = try FFmpeg.frames(folder.path(output)).map(\.time)
    #expect(times.prefix(3) == [0, 1570, 1670] && times.count == 20, "\(times)")
  }

  @Test("the last frame of an animation keeps its delay at the start of the mirror", arguments: ["s.gif", "s.apng"])
  func longLastDelay(_ name: String) async throws {
    let folder = try TemporaryFolder()
    let delay = name == "s.gif" ? "200" : "2"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x72:r=10:d=1", "-final_delay", delay, folder.path(name)])
    for output in ["o.gif", "o.apng", "o.mkv"] {
      let summary = try await Reverser(folder.path(name)).reverse(to: folder.path(output))
      #expect(abs(summary.duration.seconds - 2.9) < 0.001)
      let times = try FFmpeg.frames(folder.path(output)).map(\.time)
      #expect(times.prefix(3) == [0, 2000, 2100] && times.count == 10, "\(output): \(times)")
    }
  }

  @Test("a stored index and joined files keep the duration of the last frame")
  func storedAndJoined() async throws {
    let folder = try TemporaryFolder()
    let path = try film("s.mp4", "mp4mux").write(to: folder)
    let index = try #require(try PlayableSource.open([path], ReverseOptions(), Work()).index.video)
    let stored = try #require(StoredVideoIndex(index).index(StoredVideoIndex.bytes(of: index)))
    #expect(stored.lastDuration == index.lastDuration && abs(index.lastDuration.seconds - 1.57) < 0.001)
    let joined = try await Reverser([path, path]).reverse(to: folder.path("o.mkv"))
    #expect(abs(joined.duration.seconds - 6.94) < 0.002)
    let times = try FFmpeg.frames(folder.path("o.mkv")).map(\.time)
    #expect(times[1] == 1570 && times[21] - times[20] == 1570, "\(times)")
  }
}
