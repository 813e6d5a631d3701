import Foundation
import GStreamer
import MediaTime
import Synchronization
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// A range of a source is indexed without reading the rest. The result must equal the same range of
/// the full index.
@Suite struct StretchTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var media: TestMedia
    var testDescription: String { media.name }

    init(_ name: String, _ muxer: String, _ change: (inout TestMedia) -> Void = { _ in }) {
      media = TestMedia()
      (media.name, media.muxer) = (name, muxer)
      media.times = TestMedia.regular(420, rate: 30)
      media.sampleCount = 14 * 48_000
      media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast pass=qual quantizer=30 ! h264parse"
      change(&media)
    }
  }

  static let aac = "avenc_aac bitrate=64000 aac-pns=false ! aacparse"
  static let cases = [
    Case("aac.mp4", "mp4mux") { $0.audio = aac },
    Case("fragments.mp4", "mp4mux fragment-duration=1000") { $0.audio = aac },
    Case("late.mp4", "mp4mux") {
      $0.audio = aac
      $0.audioStart = ClockTime(nanoseconds: 513_000_000)
    },
    Case("aac.mkv", "matroskamux") { $0.audio = aac },
    Case("rate.mkv", "matroskamux") {
      $0.audio = aac
      ($0.rate, $0.sampleCount) = (44_100, 14 * 44_100)
    },
    Case("flac.mkv", "matroskamux"),
    Case("variable.mkv", "matroskamux") {
      $0.times = (0...420).map { ClockTime(nanoseconds: Int64($0) * 33_000_000 + Int64($0 % 7) * 3_000_000) }
    },
    Case("opus.webm", "webmmux") {
      $0.video = "vp8enc deadline=1 keyframe-max-dist=20"
      $0.audio = "opusenc"
    },
    Case("vorbis.webm", "webmmux") {
      $0.video = "vp8enc deadline=1 keyframe-max-dist=20"
      $0.audio = "vorbisenc"
    },
    Case("open.mkv", "matroskamux") {
      $0.video =
        "x264enc key-int-max=20 bframes=3 b-adapt=false speed-preset=ultrafast option-string=open-gop=1:scenecut=0 pass=qual quantizer=30 ! h264parse"
    },
    Case("opus.ogg", "oggmux") {
      ($0.video, $0.frameRate) = ("theoraenc", "30/1")
      $0.audio = "opusenc"
    },
    Case("raw.avi", "avimux") {
      ($0.video, $0.frameRate) = ("jpegenc", "30/1")
      $0.audio = "identity"
    },
    Case("aac.flv", "flvmux") { $0.audio = aac },
    Case("silent.mp4", "mp4mux") { $0.sampleCount = 0 },
  ]

  /// The bit rate of a range is the number of its bytes divided by its own duration, even if the
  /// range starts late.
  @Test("a range at the end has the bit rate of the source")
  func lateRate() async throws {
    let folder = try TemporaryFolder()
    let path = try Case("rate.mp4", "mp4mux") { $0.sampleCount = 0 }.media.write(to: folder)
    func rate(_ playback: PlaybackOptions) async throws -> Int {
      let pipelines = try await Reverser(path, options: ReverseOptions(playback: playback))
        .pipelines(to: folder.path("mirror.mp4"))
      let found = try #require(pipelines.encoding.firstMatch(of: /[^-]bitrate=(\d+)/))
      return try #require(Int(found.1))
    }
    let whole = try await rate(PlaybackOptions())
    let late = try await rate(
      PlaybackOptions(start: .time(ClockTime(seconds: 12)), end: .time(ClockTime(seconds: 14))))
    #expect(abs(late - whole) < whole / 4, "\(late) against \(whole) kbit/s")
  }

  @Test("the report of a range gives the duration of the whole source")
  func rangeReport() async throws {
    let folder = try TemporaryFolder()
    let path = try Case("aac.mkv", "matroskamux") { $0.audio = Self.aac }.media.write(to: folder)
    let stretch = ReverseOptions(playback: PlaybackOptions(start: 5, end: 6))
    let (part, whole) = (try await Reverser(path, options: stretch).plan(), try await Reverser(path).plan())
    // The report of a range contains the duration that the container declares. This duration counts
    // whole packets, so it may differ slightly from the duration of a full index.
    #expect(abs((part.duration - whole.duration).seconds) < 0.1, "\(part.duration), \(whole.duration)")
  }

  private func indexer(_ path: String, progress: @escaping @Sendable (IndexProgress) -> Void = { _ in }) throws
    -> Indexer
  {
    let resources = Resources()
    let cancellation = Cancellation()
    let source = try Source(path, resources: resources, cancellation: cancellation)
    let topology = try Topology(probing: source.path, source.sourceDescription, source.facts, cancellation)
    return Indexer(
      topology: topology, playback: PlaybackOptions(), spoolDirectory: resources.spoolDirectory,
      cancellation: cancellation, progress: progress)
  }

  private func samples(_ track: AudioTrack, _ span: TimeSpan) throws -> [UInt8] {
    let range = track.all(during: span)
    var bytes = [UInt8](repeating: 0, count: range.count * track.bytesPerFrame)
    try bytes.withUnsafeMutableBytes { try track.read(range, within: track.frames, into: $0) }
    return bytes
  }

  /// Returns the differences between the index of a range and the index of the whole source.
  func compare(_ path: String, from start: Double, to end: Double?) throws -> [String] {
    let indexer = try indexer(path)
    let whole = try indexer.run()
    guard let stretches = try RangeIndexer(indexer) else { return ["no stretches"] }
    let origin = whole.presentationStart
    var found: [String] = []
    if stretches.start != origin { found.append("starts at \(stretches.start.nanoseconds), not \(origin.nanoseconds)") }
    let span = TimeSpan(
      start: origin + ClockTime(seconds: start),
      end: end.map { origin + ClockTime(seconds: $0) } ?? whole.presentationEnd)
    let part: SourceIndex
    do {
      part = try stretches.index(from: span.start, to: end == nil ? nil : span.end)
    } catch let error as InexactRange {
      return found + ["inexact: \(error.reason)"]
    }
    if end == nil, part.presentationEnd != whole.presentationEnd {
      found.append("ends at \(part.presentationEnd.nanoseconds), not \(whole.presentationEnd.nanoseconds)")
    }
    if let actual = part.video?.packets.count, let all = whole.video?.packets.count, actual >= all {
      found.append("all \(actual) packets of video were read")
    }
    let videos = { (index: SourceIndex) in [index.video].compactMap { $0 } + index.furtherVideos.map(\.index) }
    for (one, all) in zip(videos(part), videos(whole)) {
      guard let actual = one.starts, let wanted = all.starts else { return found + ["no times"] }
      let (a, b) = (
        VideoTimeline(starts: actual, end: one.end(afterLast: actual)).clipped(to: span).timeline,
        VideoTimeline(starts: wanted, end: all.end(afterLast: wanted)).clipped(to: span).timeline
      )
      if a != b { found.append("frames: \(a.count), not \(b.count); until \(a.end), not \(b.end)") }
    }
    if videos(part).count != videos(whole).count { found.append("videos") }
    let expected = whole.audio.filter { !$0.frames(during: span).isEmpty }
    let actual = part.audio.filter { !$0.frames(during: span).isEmpty }
    if expected.count != actual.count { found.append("\(actual.count) audio streams, not \(expected.count)") }
    for (one, all) in zip(actual, expected) {
      if one.frames(during: span) != all.frames(during: span) {
        found.append("samples \(one.frames(during: span)), not \(all.frames(during: span))")
      } else if try samples(one, span) != samples(all, span) {
        let (a, b) = (try samples(one, span), try samples(all, span))
        let first = zip(a, b).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
        let count = zip(a, b).count { $0 != $1 }
        found.append("values of samples: \(count) of \(a.count) bytes from \(first) on")
      }
    }
    return found
  }

  @Test("a range is indexed like the whole source", arguments: cases)
  func rangeIndex(_ test: Case) throws {
    let folder = try TemporaryFolder()
    let path = try test.media.write(to: folder)
    for (start, end) in [(8.31, 9.7), (0.2, 2.0), (11.4, nil)] as [(Double, Double?)] {
      let differences = try compare(path, from: start, to: end)
      #expect(differences.isEmpty, "\(start) to \(end.map { "\($0)" } ?? "the end"): \(differences)")
    }
  }

  /// The video pad is not linked. The end of the audio must also end the video: otherwise, qtdemux
  /// would read the video to the end of the file.
  @Test(
    "nothing is read after the end of a range", arguments: [("qtdemux", "mp4mux"), ("matroskademux", "matroskamux")])
  func endOfRange(_ demuxer: String, _ muxer: String) throws {
    let folder = try TemporaryFolder()
    let path = try Case("film", muxer) { $0.audio = StretchTests.aac }.media.write(to: folder)
    let pipeline = try Pipeline(
      "filesrc name=source location=\(path) ! \(demuxer) name=demuxer demuxer.audio_0 ! fakesink name=sink")
    defer { pipeline.set(.null) }
    let counts = Mutex((packets: 0, reads: 0))
    let pad = try #require(pipeline.element("sink")?.staticPad("sink"))
    pad.endStream { _, _ in
      counts.withLock { counts in
        (counts.packets, counts.reads) = (counts.packets + 1, 0)
        return counts.packets == 10 ? .allHaveEnded : .continues
      }
    }
    pipeline.element("source")?.staticPad("src")?.onPull { _, _ in counts.withLock { $0.reads += 1 } }
    pipeline.set(.playing)
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .failed(let error) = message { throw error }
      if case .endOfStream = message { break }
    }
    pipeline.set(.null)
    #expect(counts.withLock { $0 } == (10, 0))
  }
}
