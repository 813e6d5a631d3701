import Containers
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// A ``QuickIndex`` of a long source is made from the container's tables and from the source's
/// beginning and end. The result must equal the index of a full pass.
@Suite struct QuickIndexTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var media = TestMedia()
    var testDescription: String { media.name }

    init(_ name: String, _ muxer: String, _ change: (inout TestMedia) -> Void = { _ in }) {
      (media.name, media.muxer, media.frameRate) = (name, muxer, "10/1")
      media.times = TestMedia.regular(270, rate: 10)
      (media.rate, media.channels, media.sampleCount) = (16_000, 1, 27 * 16_000)
      media.audio = "avenc_aac bitrate=64000 aac-pns=false ! aacparse"
      media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast pass=qual quantizer=30 ! h264parse"
      change(&media)
    }
  }

  private static let cases = [
    Case("a.mp4", "mp4mux"), Case("a.mov", "qtmux"), Case("a.mkv", "matroskamux"),
    Case("plain.mp4", "mp4mux") { $0.video = "x264enc key-int-max=25 bframes=0 speed-preset=ultrafast ! h264parse" },
    Case("late.mp4", "mp4mux") { $0.audioStart = .milliseconds(513) },
    Case("rate.mp4", "mp4mux") {
      ($0.rate, $0.sampleCount, $0.frameRate) = (22_050, 28 * 22_050, "30000/1001")
      $0.times = (0...780).map { ClockTime(nanoseconds: Int64($0) * 1_001_000_000 / 30) }
    },
    Case("variable.mp4", "mp4mux") {
      $0.frameRate = "0/1"
      $0.times = (0...270).map { ClockTime(nanoseconds: Int64($0) * 100_000_000 + Int64($0 % 7) * 3_000_000) }
    },
    Case("silent.mp4", "mp4mux") { $0.sampleCount = 0 },
    Case("sound.m4a", "mp4mux") { $0.video = nil },
  ]

  private func settings(_ playback: PlaybackOptions = PlaybackOptions()) -> PlaybackSettings {
    PlaybackSettings(playback, count: 1, resources: Resources(), cancellation: Cancellation())
  }

  private func bytes(_ track: AudioTrack, _ range: Range<Int>) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count * track.bytesPerFrame)
    try bytes.withUnsafeMutableBytes { try track.read(range, within: track.frames, into: $0) }
    return bytes
  }

  @Test("frames and samples of a quick index equal those of a full pass", arguments: cases)
  func quickIndex(_ source: Case) throws {
    let folder = try TemporaryFolder()
    let opened = try OpenedSource(try source.media.write(to: folder), settings())
    let quick = try #require(try QuickIndex.make(opened, settings()) { _ in })
    let whole = try opened.indexer(settings()).run()
    func packets(_ video: VideoIndex?) -> [String] {
      (video?.packets ?? []).map { "\($0.time?.nanoseconds ?? -1) \($0.isKeyframe) \($0.isHidden)" }
    }
    #expect(packets(quick.video) == packets(whole.video))
    #expect(quick.video?.starts == whole.video?.starts && quick.video?.lastDuration == whole.video?.lastDuration)
    #expect(quick.video?.caps.description == whole.video?.caps.description)
    #expect(quick.presentationStart == whole.presentationStart && quick.presentationEnd == whole.presentationEnd)
    #expect(quick.audio.map(\.frames) == whole.audio.map(\.frames))
    var generator = SeededGenerator(3)
    for (a, b) in zip(quick.audio, whole.audio) {
      for _ in 0..<8 {
        let first = Int.random(in: b.frames, using: &generator)
        let range = first - 100..<min(first + 20_000, b.frames.upperBound + 100)
        #expect(try bytes(a, range) == bytes(b, range), "\(range)")
      }
      #expect(try bytes(a, b.frames) == bytes(b, b.frames))
    }
  }

  /// If all frames last equally long, the tables of an MP4 are enough to complete the index, even
  /// with B-frames and edit lists.
  @Test(
    "MP4 tables give the presentation times",
    arguments: cases.filter { $0.media.video != nil && $0.media.frameRate != "0/1" })
  func mp4Tables(_ source: Case) throws {
    let folder = try TemporaryFolder()
    let path = try source.media.write(to: folder)
    let times = MP4SampleTimes(path, video: 0)
    #expect((times == nil) == path.hasSuffix(".mkv"))
    let stretches = try #require(try RangeIndexer(OpenedSource(path, settings()).indexer(settings())))
    let end = try #require(try stretches.index(from: .seconds(19), to: nil).video)
    guard let times, let beginning = stretches.beginning.video else { return }
    #expect(end.completed(by: times, beginning)?.packets.count == source.media.frameCount)
  }

  @Test("short sources and trimmed sources are indexed in full")
  func fullIndex() throws {
    let folder = try TemporaryFolder()
    let short = Case("short.mp4", "mp4mux") {
      $0.times = TestMedia.regular(100, rate: 10)
      $0.sampleCount = 160_000
    }
    let opened = try OpenedSource(try short.media.write(to: folder), settings())
    #expect(try QuickIndex.make(opened, settings()) { _ in }.map { _ in true } == nil)
    let stretch = settings(PlaybackOptions(start: 1, end: 2))
    #expect(try QuickIndex.make(opened, stretch) { _ in }.map { _ in true } == nil)
  }
}
