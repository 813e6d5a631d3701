import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Several files reversed as one.
@Suite struct JoinTests {
  private static let samplesPerFrame = 1920

  /// Returns a video at 25 fps, with 48 kHz audio of the same length.
  private static func media(_ name: String, frames: Int) -> TestMedia {
    var media = TestMedia.matroska(frames: frames)
    (media.name, media.sampleCount) = (name, frames * samplesPerFrame)
    return media
  }

  private static var lossless: ReverseOptions {
    var options = ReverseOptions()
    (options.encoding.quality, options.playback.joint) = (.lossless, .zero)
    return options
  }

  private static func samples(_ path: String) throws -> [SIMD2<Double>] {
    try DecodedMedia(path, like: .audioOnly("", muxer: "", sampleCount: 1)).audio.withUnsafeBytes {
      Array($0.bindMemory(to: SIMD2<Double>.self))
    }
  }

  /// The arguments are a score, and the played frames and audio samples. Both are counted across
  /// the files: frames 0 to 29 are from the first file, frames 30 to 49 are from the second.
  @Test(
    "a score over joined files plays every frame and sample",
    arguments: [
      ("end..0", [(49, 0)], [(96_000, 0)]),
      ("0..end, end..0", [(0, 49), (48, 0)], [(0, 96_000), (94_080, 0)]),
      ("1.4..1, 1..1.4", [(34, 25), (26, 34)], [(67_200, 48_000), (49_920, 67_200)]),
      ("20f..40f; 1.6..0.8", [(20, 39), (39, 20)], [(38_400, 76_800), (76_800, 38_400)]),
    ])
  func joinedScore(_ score: String, _ framesPlayed: [(Int, Int)], _ samplesPlayed: [(Int, Int)]) async throws {
    let folder = try TemporaryFolder()
    let sources = try [("a.mkv", 30), ("b.mkv", 20)].map { try Self.media($0, frames: $1).write(to: folder) }
    var options = Self.lossless
    options.playback.score = try Score(parsing: score)
    let summary = try await Reverser(sources, options: options).reverse(to: folder.path("o.mkv"))
    #expect(summary.warnings.isEmpty)
    let output = try DecodedMedia(folder.path("o.mkv"), like: Self.media("", frames: 1))
    let numbers = Array(0..<30) + Array(0..<20)
    var frames = framesPlayed.flatMap { first, last in
      stride(from: first, through: last, by: first < last ? 1 : -1).map { numbers[$0] }
    }
    // The frame at a turn is shown once.
    if score.hasPrefix("20f") { frames.remove(at: 20) }
    #expect(output.numbers == frames)
    #expect(output.times == frames.indices.map { ClockTime(seconds: Double($0) / 25) })
    let samples = try sources.flatMap(Self.samples)
    var expected = samplesPlayed.flatMap { from, to in
      from < to ? Array(samples[from..<to]) : samples[to..<from].reversed()
    }
    if score.hasPrefix("20f") { expected.removeSubrange(38_400..<38_400 + Self.samplesPerFrame) }
    #expect(try Self.samples(folder.path("o.mkv")) == expected)
  }

  @Test("a trim can span several joined files")
  func trim() async throws {
    let folder = try TemporaryFolder()
    let sources = try [("a.mkv", 30), ("b.mkv", 20), ("c.mkv", 10)].map {
      try Self.media($0, frames: $1).write(to: folder)
    }
    var options = Self.lossless
    (options.playback.start, options.playback.end) = (.time(ClockTime(seconds: 1)), .frame(52))
    _ = try await Reverser(sources, options: options).reverse(to: folder.path("o.mkv"))
    let output = try DecodedMedia(folder.path("o.mkv"), like: Self.media("", frames: 1))
    #expect(output.numbers == [1, 0] + (0..<20).reversed() + (25..<30).reversed())
  }

  /// The audio of the first file ends early, and the second file has no audio.
  @Test("audio that ends early or is missing becomes silence")
  func missingAudio() async throws {
    let folder = try TemporaryFolder()
    var short = Self.media("a.mkv", frames: 20)
    short.sampleCount = 20_000
    var mute = Self.media("b.mkv", frames: 10)
    mute.sampleCount = 0
    let sources = try [short, mute, Self.media("c.mkv", frames: 10)].map { try $0.write(to: folder) }
    let summary = try await Reverser(sources, options: Self.lossless).reverse(to: folder.path("o.mkv"))
    #expect(
      summary.warnings.map(\.description) == [
        "\(sources[1]) has no audio, so the output's audio is silent during that file"
      ])
    #expect(summary.warnings.first?.span == TimeSpan(start: ClockTime(seconds: 0.8), end: ClockTime(seconds: 1.2)))
    let silence = [SIMD2<Double>](repeating: .zero, count: 40 * Self.samplesPerFrame - 20_000 - 19_200)
    let expected = try Self.samples(sources[0]) + silence + Self.samples(sources[2])
    #expect(try Self.samples(folder.path("o.mkv")) == expected.reversed())
  }

  @Test("audio in another format is converted to the format of the first file")
  func convertedAudio() async throws {
    let folder = try TemporaryFolder()
    let first = TestMedia.audioOnly("a.wav", muxer: "wavenc", sampleCount: 48_000)
    var second = TestMedia.audioOnly("b.wav", muxer: "wavenc", sampleCount: 44_100)
    (second.rate, second.channels, second.click) = (44_100, 1, 11_025)
    let sources = try [first, second].map { try $0.write(to: folder) }
    let summary = try await Reverser(sources).reverse(to: folder.path("o.wav"))
    #expect(summary.samples == [96_000])
    #expect(
      summary.warnings.map(\.description) == [
        "\(sources[1]): to match the first file, this file's audio is converted from 44100 Hz, 1 channel, S16LE to "
          + "48000 Hz, 2 channels, S16LE"
      ])
    let output = try Self.samples(folder.path("o.wav"))
    #expect(Array(output[48_000...]) == (try Self.samples(sources[0])).reversed())
    // The click is 0.25 s into the second file, so it is 0.25 s before the joint in the mirror.
    let loudest = try #require(output[..<48_000].indices.max { output[$0].x < output[$1].x })
    #expect(loudest == 48_000 - 1 - 12_000)
    #expect(output[loudest].x == output[loudest].y && output[loudest].x > 0.55)
  }

  /// Decodes the grey pixels of each frame.
  private func frames(_ path: String, _ elements: String = "identity") throws -> [[UInt8]] {
    try DecodedMedia.buffers(
      of: "filesrc location=\(path) ! decodebin ! videoconvert ! \(elements) ! videoconvert ! video/x-raw,format=GRAY8")
  }

  private func difference(_ a: [UInt8], _ b: [UInt8]) -> Double {
    a.count == b.count ? zip(a, b).reduce(0) { $0 + abs(Double($1.0) - Double($1.1)) } / Double(max(a.count, 1)) : 255
  }

  /// Each case changes a property of the second file: size, shape, chroma format, rotation, pixel
  /// aspect ratio or interlacing.
  @Test(
    "frames are fitted to the first file",
    arguments: ["large", "turned", "wide", "fields", "fields, the lower first"])
  func fittedFrames(_ kind: String) async throws {
    let folder = try TemporaryFolder()
    let first = try TestMedia.matroska(frames: 10).write(to: folder)
    var media = TestMedia.matroska(frames: 12)
    (media.name, media.width, media.height) = ("b.mkv", 160, 160)
    var fit = "videoscale add-borders=true ! video/x-raw,width=96,height=64,pixel-aspect-ratio=1/1"
    switch kind {
    case "turned":
      (media.name, media.muxer, media.orientation) = ("b.mp4", "mp4mux", "rotate-90")
      fit = "videoflip video-direction=90r ! \(fit)"
    case "wide":
      media.video =
        "videoscale ! video/x-raw,width=160,height=160,pixel-aspect-ratio=4/3 ! \(try #require(media.video))"
    case "fields":
      (media.width, media.height) = (192, 128)
      media.video = "x264enc interlaced=true key-int-max=20 bframes=0 pass=qual quantizer=10 ! h264parse"
      fit = "deinterlace method=linear fields=top ! \(fit)"
    case "fields, the lower first":
      fit = "deinterlace method=linear fields=top ! \(fit)"
    default:
      media.video = "videoconvert ! video/x-raw,format=Y444 ! \(try #require(media.video))"
    }
    let second = kind.hasSuffix("first") ? folder.path("b.mkv") : try media.write(to: folder)
    if kind.hasSuffix("first") {
      try run(
        pipeline: "videotestsrc num-buffers=12 pattern=ball ! video/x-raw,format=I420,width=192,height=128,"
          + "framerate=10/1,interlace-mode=interleaved,field-order=bottom-field-first ! "
          + "x264enc interlaced=true key-int-max=20 bframes=0 pass=qual quantizer=10 ! h264parse ! matroskamux ! "
          + "filesink location=\(second)")
    }
    var options = Self.lossless
    options.output.isVerified = true
    let summary = try await Reverser([first, second], options: options).reverse(to: folder.path("o.mkv"))
    #expect(summary.warnings.count == 1)
    #expect(summary.warnings.first?.description.hasPrefix("\(second): converted to match the first file: ") ?? false)
    let output = try frames(folder.path("o.mkv"))
    let expected = Array((try frames(first) + frames(second, fit)).reversed())
    #expect(output.count == 22 && expected.count == 22)
    for (place, pair) in zip(output, expected).enumerated() {
      // The first 12 frames are from the second file and may be scaled. Their edges depend on the
      // scaling method.
      #expect(difference(pair.0, pair.1) < (place < 12 ? 6 : 0.1), "frame \(place)")
    }
  }

  @Test("chapters, subtitles and warnings of the second file begin after the first file")
  func chaptersAndSubtitles() throws {
    let folder = try TemporaryFolder()
    let work = Work()
    func part(_ name: String, frames: Int, _ text: String) throws -> PlayableSource.Part {
      let path = try TestMedia.matroska(frames: frames).write(to: folder)
      var source = try PlayableSource.open([path], ReverseOptions(playback: PlaybackOptions(loop: .forward)), work)
      let span = TimeSpan(start: ClockTime(seconds: 0.2), end: ClockTime(seconds: 0.4))
      source.index.chapters = [Chapter(span: span, title: text, children: [Chapter(span: span, title: text + " in")])]
      let caps = try #require(Caps("text/x-raw,format=utf8"))
      source.index.subtitles = [
        SubtitleTrack(caps: caps, tags: nil, cues: [Cue(span: span, bytes: Array(text.utf8))])
      ]
      source.index.warnings = [Warning(.damaged, "damaged: \(text)", span: span)]
      return PlayableSource.Part(name: name, source: source, fit: nil)
    }
    let parts = [try part("a", frames: 25, "one"), try part("b", frames: 10, "two")]
    let joined = try PlayableSource(
      joining: parts, as: "a + b",
      PlaybackSettings(PlaybackOptions(), count: 1, resources: Resources(), cancellation: work.cancellation))
    let later = TimeSpan(start: ClockTime(seconds: 1.2), end: ClockTime(seconds: 1.4))
    #expect(joined.index.chapters.map(\.title) == ["one", "two"])
    #expect(joined.index.chapters[1].span == later && joined.index.chapters[1].children.first?.span == later)
    #expect(joined.index.subtitles.count == 1)
    #expect(joined.index.subtitles[0].cues.map(\.span).last == later)
    #expect(joined.warnings.map(\.description) == ["a: damaged: one", "b: damaged: two"])
    #expect(joined.warnings.last?.span == later)
    #expect(joined.legs.duration == ClockTime(seconds: 1.4))
  }

  /// The damaged file is so long that a player would index only its start and end (`QuickIndex`),
  /// without the damage in the middle.
  @Test("damage in a joined file is reported as in a single file")
  func damage() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    (media.times, media.frameRate) = (TestMedia.regular(300, rate: 10), "10/1")
    (media.sampleCount, media.rate, media.channels) = (30 * 8000, 8000, 1)
    media.audio = "avenc_aac ! aacparse"
    // All frames are keyframes. Otherwise, before GStreamer 1.28.2, the number of frames that are
    // lost because of a damaged reference varies (`Quirk.avdecGapFrames`).
    media.video = "x264enc key-int-max=1 pass=qual quantizer=18 ! h264parse"
    let path = try media.write(to: folder)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for place in bytes.count / 2..<bytes.count / 2 + 4000 {
      bytes[place] = UInt8(truncatingIfNeeded: place &* 73 &+ 11)
    }
    try bytes.write(to: URL(fileURLWithPath: path))
    let good = try TestMedia.matroska(frames: 5).write(to: folder)
    let alone = try await Reverser(path).reverse(to: folder.path("a.mkv")).warnings
    let joined = try await Reverser([path, good]).reverse(to: folder.path("b.mkv")).warnings
    #expect(alone.contains { $0.description.contains("packets of audio can't be decoded") }, "\(alone)")
    for warning in alone { #expect(joined.contains { $0.description == "\(path): \(warning)" }, "\(joined)") }
  }

  @Test("ten files take no more memory than one")
  func memory() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska(frames: 40)
    (media.width, media.height) = (320, 240)
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.resources.memory = ByteCount(2 << 20)
    let summary = try await Reverser(Array(repeating: source, count: 10), options: options)
      .reverse(to: folder.path("o.mkv"))
    #expect(summary.frames == 400)
    #expect(summary.peakMemory <= 2 << 20)
  }

  @Test("files that can't be joined are refused")
  func refusedJoins() async throws {
    let folder = try TemporaryFolder()
    let film = try TestMedia.matroska(frames: 5).write(to: folder)
    let audio = try TestMedia.audioOnly("a.wav", muxer: "wavenc", sampleCount: 4800).write(to: folder)
    func refusal(_ inputs: [String], _ change: (inout ReverseOptions) -> Void = { _ in }) async -> RetrogradeError? {
      var options = ReverseOptions()
      change(&options)
      return await #expect(throws: RetrogradeError.self) {
        try await Reverser(inputs, options: options).reverse(to: folder.path("o.mkv"))
      }
    }
    let mixed = await refusal([film, audio])
    #expect(mixed?.code == .usage && mixed?.subject == audio)
    #expect(mixed?.message.description.contains("so it can't be joined to \(film), which has video") ?? false)
    #expect(await refusal([film, folder.path("none.mkv")])?.code == .noInput)
    #expect(await refusal([])?.code == .usage)
    #expect(await refusal(["-", "-"])?.code == .usage)
    let copied = await refusal([film, film]) {
      ($0.playback.loop, $0.encoding.copiesForward) = (.pingPong, true)
    }
    #expect(copied?.code == .usage)
  }
}
