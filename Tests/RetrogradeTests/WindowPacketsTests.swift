import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Each window (frames that are decoded forwards and output in reverse) is decoded from its own
/// packets, without later packets.
@Suite struct WindowPacketsTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var media = TestMedia()
    /// True if frames that are shown before a keyframe depend on this keyframe (open GOP).
    var isOpen = false

    init(
      _ description: String, _ video: String, muxer: String = "matroskamux", name: String = "s.mkv",
      isOpen: Bool = false
    ) {
      testDescription = description
      (media.video, media.muxer, media.name) = (video, muxer, name)
      (media.times, media.frameRate) = (TestMedia.regular(80, rate: 25), "25/1")
      (media.width, media.height) = (192, 128)
      self.isOpen = isOpen
    }
  }

  private static let x264 =
    "x264enc key-int-max=20 bframes=2 b-adapt=false pass=qual quantizer=18 speed-preset=ultrafast"
  private static let cases = [
    Case("H.264", "\(x264) ! h264parse"),
    Case("H.264 in MP4", "\(x264) ! h264parse", muxer: "mp4mux", name: "s.mp4"),
    Case("H.264, open groups", "\(x264) option-string=open-gop=1 ! h264parse", isOpen: true),
    Case("HEVC", "x265enc key-int-max=20 option-string=open-gop=0 ! h265parse"),
    Case(
      "HEVC, open groups",
      "x265enc key-int-max=20 option-string=open-gop=1:bframes=3 ! h265parse",
      isOpen: true),
    Case(
      "VP8", "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=20 auto-alt-ref=true lag-in-frames=10", muxer: "webmmux",
      name: "s.webm"),
    Case(
      "VP9", "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=20 auto-alt-ref=true lag-in-frames=10", muxer: "webmmux",
      name: "s.webm"),
  ]

  /// Containers mark frames as keyframes even if the video is correct only some frames later
  /// (`recovery_frame_cnt`).
  @Test("all frames of H.264 with periodic intra refresh are correct", arguments: ["a.mp4", "a.mkv", "a.ts"])
  func periodicRefresh(name: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    let refresh = ["-c:v", "libx264", "-preset", "ultrafast", "-x264opts", "intra-refresh=1:keyint=20"]
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=d=3:r=25:s=320x240"] + refresh + [path])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.resources.memory = ByteCount(4 << 20)
    try await Reverser(path, options: options).reverse(to: folder.path("b.mkv"))
    let own = try FFmpeg.frames(path).map(\.sum)
    #expect(try FFmpeg.frames(folder.path("b.mkv")).map(\.sum) == own.reversed())
  }

  @Test("each window ends with its own last frame", arguments: cases)
  func windowEnd(_ source: Case) throws {
    let settings = PlaybackSettings(
      PlaybackOptions(), count: 1, resources: Resources(), cancellation: Cancellation())
    let folder = try TemporaryFolder()
    let opened = try OpenedSource(try source.media.write(to: folder), settings)
    let index = try #require(try RangeIndexer(opened.indexer(settings))).index(from: .zero, to: nil)
    let (video, recipe) = (try #require(index.video), try #require(index.recipe))
    let starts = try #require(video.starts)
    #expect(video.keyframes.count >= 4, "\(video.keyframes)")
    let decoder = try VideoDecoder(recipe, FormatChanges(), Cancellation())
    let ends = video.keyframes.dropFirst() + [starts.count]
    for (keyframe, end) in zip(video.keyframes, ends).reversed() {
      let window = Window(frames: keyframe..<end, keyframe: keyframe, spooled: 0)
      let frames = try decoder.decode(
        window, of: video, spool: nil, budget: .max, gauge: MemoryGauge(), Cancellation())
      let numbers = try (0..<window.frames.count).map { place in
        try frames.frame(at: place).inPlainLayout(decoder.caps).withBytes { bytes in
          TestMedia.number(width: 192, height: 128) { x, y in bytes[y * 192 + x] }
        }
      }
      #expect(numbers == Array(window.frames))
      // With an open GOP, the next keyframe was decoded, too, because its packet precedes the
      // packets of frames in this window that depend on it.
      var rest = 0
      while try decoder.next(Cancellation()) != nil { rest += 1 }
      #expect(rest <= (source.isOpen ? 4 : 0))
    }
  }
}
