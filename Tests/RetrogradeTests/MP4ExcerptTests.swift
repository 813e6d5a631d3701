import Containers
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// The sample tables of an ``MP4Excerpt`` list only the beginning and one range of the file. The
/// index of this range must equal the same range of the full index.
@Suite struct MP4ExcerptTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var media = TestMedia()
    var testDescription: String { media.name }

    init(_ name: String, _ muxer: String, _ change: (inout TestMedia) -> Void = { _ in }) {
      (media.name, media.muxer, media.frameRate) = (name, muxer, "10/1")
      media.times = TestMedia.regular(600, rate: 10)
      (media.rate, media.channels, media.sampleCount) = (16_000, 1, 60 * 16_000)
      media.audio = "avenc_aac bitrate=64000 aac-pns=false ! aacparse"
      media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast pass=qual quantizer=30 ! h264parse"
      change(&media)
    }
  }

  private static let cases = [
    Case("a.mp4", "mp4mux"), Case("a.mov", "qtmux"),
    Case("first.mp4", "mp4mux faststart=true"),
    Case("plain.mp4", "mp4mux") { $0.video = "x264enc key-int-max=25 bframes=0 speed-preset=ultrafast ! h264parse" },
    Case("late.mp4", "mp4mux") { $0.audioStart = .milliseconds(513) },
    Case("variable.mp4", "mp4mux") {
      $0.frameRate = "0/1"
      $0.times = (0...600).map { ClockTime(nanoseconds: Int64($0) * 100_000_000 + Int64($0 % 7) * 3_000_000) }
    },
    Case("rate.mp4", "mp4mux") {
      $0.frameRate = "24000/1001"
      $0.times = (0...1438).map { ClockTime(nanoseconds: Int64($0) * 1_001_000_000 / 24) }
    },
    Case("intra.mov", "qtmux") { $0.video = "jpegenc" },
    Case("silent.mp4", "mp4mux") { $0.sampleCount = 0 },
    Case("sound.m4a", "mp4mux") { $0.video = nil },
  ]

  private let settings = PlaybackSettings(
    PlaybackOptions(), count: 1, resources: Resources(), cancellation: Cancellation())

  /// Returns the source with shortened tables, which list only the first 16 s and the range from
  /// `start` to `end`.
  /// - Parameter end: end of the range; nil for the end of the file.
  private func excerpt(_ opened: OpenedSource, from start: ClockTime, to end: ClockTime?) throws -> OpenedSource {
    let kept = [ClockTime.seconds(-1)..<ClockTime.seconds(16), start..<(end ?? ClockTime(nanoseconds: .max))]
    let excerpt = try #require(
      MP4Excerpt(
        opened.stored.path, keeping: kept,
        opened.stored.facts.correction, least: 1))
    return opened.reading(excerpt)
  }

  private func bytes(_ track: AudioTrack) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: track.frames.count * track.bytesPerFrame)
    try bytes.withUnsafeMutableBytes { try track.read(track.frames, within: track.frames, into: $0) }
    return bytes
  }

  @Test("a range of an excerpt is indexed like the whole file", arguments: cases, [false, true])
  func excerptIndex(_ source: Case, isLast: Bool) throws {
    let end = isLast ? nil : ClockTime.seconds(44)
    let folder = try TemporaryFolder()
    let opened = try OpenedSource(try source.media.write(to: folder), settings)
    let short = try excerpt(opened, from: .seconds(30), to: end.map { $0 + .seconds(12) })
    let start = end.map { $0 - .seconds(4) } ?? .seconds(52)
    let hole = TimeSpan(start: .seconds(16), end: .seconds(30))
    let found = try #require(try RangeIndexer(short.indexer(settings), hole: hole)).index(from: start, to: end)
    let whole = try #require(try RangeIndexer(opened.indexer(settings))).index(from: start, to: end)
    func packets(_ video: VideoIndex?) -> [String] {
      (video?.packets ?? []).map { "\($0.time?.nanoseconds ?? -1) \($0.bytes) \($0.isKeyframe) \($0.isHidden)" }
    }
    #expect(packets(found.video) == packets(whole.video))
    #expect(found.video?.starts == whole.video?.starts && found.video?.lastDuration == whole.video?.lastDuration)
    #expect(found.presentationStart == whole.presentationStart && found.presentationEnd == whole.presentationEnd)
    #expect(found.audio.map(\.frames) == whole.audio.map(\.frames))
    for (a, b) in zip(found.audio, whole.audio) { #expect(try bytes(a) == bytes(b)) }
    if let caps = found.video?.caps { #expect(try caps.isEqual(#require(whole.video?.caps)), "\(caps)") }
    guard let recipe = found.recipe, let wholeRecipe = whole.recipe, let starts = found.video?.starts else { return }
    let decoder = try VideoDecoder(recipe, FormatChanges(), Cancellation())
    #expect(
      try decoder.caps.isEqual(VideoDecoder(wholeRecipe, FormatChanges(), Cancellation()).caps), "\(decoder.caps)")
    let wanted = try #require(starts.first { $0 >= start })
    try decoder.start(at: wanted, fromPacket: 0, .init())
    var sample = try #require(try decoder.next(Cancellation()))
    #expect(sample.streamTime == wanted)
    // Durations are rounded, and GStreamer 1.28 rounds differently, so the previous frame may
    // overlap the start by 1 ns. The decoder then outputs the previous frame first, clipped to the
    // start, as `VideoDecoder.decode` expects.
    if let next = try decoder.next(Cancellation()), let time = next.streamTime, time <= wanted + .milliseconds(3) {
      sample = next
    }
    let number = try sample.buffer.inPlainLayout(decoder.caps).withBytes { bytes in
      TestMedia.number(width: 96, height: 64) { x, y in bytes[y * 96 + x] }
    }
    #expect(number == source.media.times.firstIndex { $0 >= wanted - .milliseconds(3) })
  }

  @Test("a range outside the excerpt is refused")
  func unlistedRange() throws {
    let folder = try TemporaryFolder()
    let opened = try OpenedSource(
      try Case("long.mp4", "mp4mux") {
        $0.video = "x264enc key-int-max=300 bframes=0 speed-preset=ultrafast ! h264parse"
      }
      .media.write(to: folder), settings)
    let short = try excerpt(opened, from: .seconds(35), to: nil)
    let indexer = try #require(
      try RangeIndexer(short.indexer(settings), hole: TimeSpan(start: .seconds(16), end: .seconds(35))))
    // The excerpt does not list the keyframe at 30 s.
    #expect(throws: InexactRange.self) { try indexer.index(from: .seconds(45), to: nil) }
    #expect(throws: InexactRange.self) { try indexer.index(from: .seconds(36), to: nil) }
  }

  @Test("small files and files with unsupported sample tables have no excerpt")
  func noExcerpt() throws {
    let folder = try TemporaryFolder()
    let kept = [ClockTime.seconds(-1)..<ClockTime.seconds(16), .seconds(30)..<ClockTime(nanoseconds: .max)]
    let path = try Case("a.mp4", "mp4mux").media.write(to: folder)
    #expect(MP4Excerpt(path, keeping: kept) == nil)
    let fragmented = try Case("f.mp4", "mp4mux fragment-duration=1000").media.write(to: folder)
    #expect(MP4Excerpt(fragmented, keeping: kept, least: 1) == nil)
    // All PCM samples have the same size, so the table of sizes is empty.
    let even = try Case("pcm.mov", "qtmux") { $0.audio = "identity" }.media.write(to: folder)
    #expect(MP4Excerpt(even, keeping: kept, least: 1) == nil)
    let other = try Case("a.mkv", "matroskamux").media.write(to: folder)
    #expect(MP4Excerpt(other, keeping: kept, least: 1) == nil)
  }
}
