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

  struct Sound: Sendable {
    var channels: Int
    var rate: Int
    var wave: String
  }

  /// What AAC loses is no more where segments meet than elsewhere: of a tone, of noise, of what is struck.
  @Test(arguments: [
    Sound(channels: 1, rate: 44_100, wave: "sine freq=440"), Sound(channels: 2, rate: 48_000, wave: "pink-noise"),
    Sound(channels: 6, rate: 48_000, wave: "sine freq=50"),
    Sound(channels: 2, rate: 22_050, wave: "ticks tick-interval=130000000"),
  ]) func audioHasNoJoints(_ sound: Sound) async throws {
    let source = folder.path("a.mka")
    try run(
      pipeline: "audiotestsrc num-buffers=\(sound.rate * 3 / 1000) samplesperbuffer=1000 wave=\(sound.wave) ! "
        + "audio/x-raw,format=S16LE,rate=\(sound.rate),channels=\(sound.channels) ! flacenc ! matroskamux ! "
        + "filesink location=\(source)")
    var settings = settings()
    settings.isLossless = false
    let mirror = try mirror(source, settings)
    let rendition = mirror.renditions[0]
    let heard = try FFmpeg.samples(try write(mirror, 0, "aac.mp4"))
    try await Reverser(source).reverse(to: folder.path("whole.wav"))
    let whole = try FFmpeg.samples(folder.path("whole.wav"))
    // FFmpeg gives out all of a fragment's last packet.
    #expect(heard.count / sound.channels - whole.count / sound.channels < PacketGrid.AAC && heard.count >= whole.count)
    let errors = Self.errors(heard, whole, sound.channels)
    let joints = Set(
      rendition.segments.dropFirst().flatMap { segment in
        let block = segment.start.sampleIndex(rate: sound.rate) / Self.block
        return block - 8...block + 8
      })
    // At the ends, where a tone is cut off, more is lost.
    let inner = errors.indices.dropFirst(16).dropLast(16)
    func most(_ isJoint: Bool) -> Float {
      inner.filter { joints.contains($0) == isJoint }.map { errors[$0] }.max() ?? 0
    }
    #expect(rendition.segments.count > 4)
    #expect(most(true) <= most(false) * 1.1)
  }

  private static let block = 128

  /// The root mean square of the difference, in each block of sample frames.
  private static func errors(_ a: [Float32], _ b: [Float32], _ channels: Int) -> [Float] {
    let size = block * channels
    return stride(from: 0, to: min(a.count, b.count) - size + 1, by: size).map { start in
      let sum = (start..<start + size).reduce(Float(0)) { $0 + (a[$1] - b[$1]) * (a[$1] - b[$1]) }
      return (sum / Float(size)).squareRoot()
    }
  }
}
