import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// All segments, one after the other, are what `reverse` makes of the whole: frame for frame and sample for sample.
@Suite struct SegmentedMirrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Four seconds in groups of 20 frames.
  private var media: TestMedia {
    var media = TestMedia.matroska
    media.times = TestMedia.regular(120, rate: 30)
    media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast qp-max=20 ! h264parse"
    media.sampleCount = 192_000
    return media
  }

  private func settings(_ playback: PlaybackOptions = PlaybackOptions()) -> SegmentedMirror.Settings {
    var settings = SegmentedMirror.Settings(playback: playback, target: .seconds(1))
    settings.isLossless = true
    return settings
  }

  private func mirror(_ source: String, _ settings: SegmentedMirror.Settings) throws -> SegmentedMirror {
    try SegmentedMirror(source, settings, Cancellation())
  }

  /// Writes the segments of a rendition one after the other; they are made in another order.
  private func write(_ mirror: SegmentedMirror, _ rendition: Int, _ name: String) throws -> String {
    var generator = SeededGenerator(7)
    var segments: [Int: [UInt8]] = [:]
    for number in mirror.renditions[rendition].segments.indices.shuffled(using: &generator) {
      segments[number] = try mirror.segment(number, of: rendition, Cancellation())
    }
    let bytes = segments.sorted { $0.key < $1.key }.reduce(
      try mirror.initialization(rendition, Cancellation())
    ) { $0 + $1.value }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path(name)))
    return folder.path(name)
  }

  struct Order: Sendable {
    var loop = Loop.reverse
    var score: String?
  }

  static let orders = [
    Order(), Order(loop: .pingPong), Order(loop: .reverseForward), Order(loop: .forward),
    Order(score: "0..2, hold 0.6, 2..0.5 x2, 3..1 x0.5"),
  ]

  @Test(arguments: orders) func framesAndSamplesAreThoseOfTheWhole(_ order: Order) async throws {
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.playback.loop = order.loop
    options.playback.score = try order.score.map { try Score(parsing: $0) }
    options.encoding.quality = .lossless
    try await Reverser(source, options: options).reverse(to: folder.path("whole.mkv"))
    let mirror = try mirror(source, settings(options.playback))
    let video = try write(mirror, 0, "video.mp4")
    let whole = try FFmpeg.frames(folder.path("whole.mkv"))
    let frames = try FFmpeg.frames(video)
    #expect(frames.map(\.sum) == whole.map(\.sum))
    #expect(zip(frames, whole).allSatisfy { abs($0.time - $1.time) <= 1 })
    #expect(frames.count == mirror.frameStarts.count)
    let audio = try write(mirror, 1, "audio.mp4")
    #expect(try FFmpeg.samples(audio) == FFmpeg.samples(folder.path("whole.mkv")))
  }
}
