import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import RetrogradeEngine
@testable import RetrogradePlugin

/// With `loop=reverse`, reversesrc plays the end of a long file while it is still indexing the
/// file. With other values of `loop`, reversesrc indexes the whole file before it plays.
@Suite struct TailTests {
  /// Returns media of 750 numbered frames of 40 ms, and 1,440,000 audio samples whose values depend
  /// on their positions.
  private func media() -> TestMedia {
    var media = TestMedia()
    media.times = TestMedia.regular(750, rate: 25)
    media.video = "x264enc key-int-max=20 bframes=2 speed-preset=ultrafast pass=qual quantizer=25 ! h264parse"
    (media.name, media.muxer, media.audio) = ("t.mkv", "matroskamux", "flacenc")
    media.sampleCount = 750 * 1920
    return media
  }

  private func source(_ path: String, loop: String = "reverse") throws -> Pipeline {
    try pipeline(
      "reversesrc name=r uri=file://\(path) loop=\(loop) memory-budget=2000000 "
        + "r.video_0 ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=video sync=false async=false max-buffers=2 "
        + "r.audio_0 ! queue ! appsink name=audio sync=false async=false")
  }

  @Test("no frame or sample is lost or repeated when playback reaches the rest of the file")
  func seam() throws {
    let folder = try TemporaryFolder()
    let media = media()
    let pipeline = try source(try media.write(to: folder))
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    var numbers: [Int] = []
    var times: [ClockTime] = []
    while let sample = try pipeline.pull(video) {
      numbers.append(try sample.number())
      times.append(try #require(sample.streamTime))
    }
    var audioData: [UInt8] = []
    while let sample = try pipeline.pull(audio) { audioData += try sample.buffer.withBytes { Array($0) } }
    #expect(numbers == (0..<750).reversed())
    #expect(times == (0..<750).map { ms($0 * 40) })
    #expect(pipeline.duration == ms(30_000))
    let samples = media.audioBytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    let isExact = audioData.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) } == samples.reversed()
    #expect(isExact)
  }

  /// The file contains 13 copies of a film whose audio is shorter than its video. The audio has a
  /// gap after each copy, so the position of the last copy's audio is known only when the whole
  /// file is indexed.
  @Test(
    "video does not wait for audio without a known position",
    arguments: [
      ("t.mp4", [String]()), ("t.mkv", []), ("t.flv", []), ("f.mp4", ["-movflags", "frag_keyframe+empty_moov"]),
    ])
  func unplacedAudio(_ name: String, _ options: [String]) throws {
    let folder = try TemporaryFolder()
    let (film, path) = (folder.path("film.mp4"), folder.path(name))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=d=3:r=25:s=64x48", "-f", "lavfi", "-i", "sine=d=2.9:r=48000"] + [
        "-c:v", "libx264", "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac", "-aac_pns", "0", film,
      ])
    _ = try FFmpeg.bytes(["-stream_loop", "12", "-i", film, "-c", "copy"] + options + [path])
    let settings = PlaybackSettings(PlaybackOptions(), count: 1, resources: Resources(), cancellation: Cancellation())
    let opened = try OpenedSource(path, settings)
    let tail = try #require(try SourceRanges(opened, settings)).tail
    #expect(tail.source.audio.map(\.isPlaced) == [false])
    let whole = try PlayableSource(opened, settings) { _ in }
    let end = whole.legs.presentation.duration
    var (player, expected) = (
      AudioPlayer(
        try #require(whole.audio.first), whole.legs, from: .zero, to: end, isPadded: false), [UInt8]()
    )
    while let part = try player.next() { expected += try part.buffer.withBytes { Array($0) } }
    let pipeline = try source(path)
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    var (count, audioData) = (0, [UInt8]())
    while try pipeline.pull(video) != nil { count += 1 }
    while let sample = try pipeline.pull(audio) { audioData += try sample.buffer.withBytes { Array($0) } }
    #expect(count == whole.video?.shown.timeline.count)
    let isExact = audioData.drop { $0 == 0 } == expected.drop { $0 == 0 }
    #expect(isExact)
  }

  @Test("seeks are exact even before the index is complete")
  func earlySeeks() throws {
    let folder = try TemporaryFolder()
    let pipeline = try source(try media().write(to: folder))
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    _ = try pipeline.pull(video)
    for place in [700, 10, 198, 205, 0, 749, 350] {
      #expect(pipeline.seek(to: ms(place * 40)))
      let frame = try #require(try pipeline.pull(video))
      #expect(try frame.number() == 749 - place)
      #expect(frame.streamTime == ms(place * 40))
      #expect(try #require(try pipeline.pull(audio)).streamTime == ms(place * 40))
    }
  }

  @Test("stopping does not wait for the index")
  func earlyStop() throws {
    let folder = try TemporaryFolder()
    let path = try media().write(to: folder)
    for _ in 0..<5 {
      let pipeline = try source(path)
      pipeline.set(.playing)
      let first = try #require(try pipeline.pull(try pipeline.appSink("video")))
      #expect(try first.number() == 749)
      // `set` returns only when no thread of the pipeline is left.
      pipeline.set(.null)
    }
  }

  @Test(
    "other loop modes play every frame and sample",
    arguments: [("ping-pong", "mp4mux"), ("reverse-forward", "matroskamux"), ("forward", "matroskamux")])
  func otherLoops(_ loop: String, _ muxer: String) throws {
    let folder = try TemporaryFolder()
    var media = media()
    if muxer == "mp4mux" {
      (media.name, media.muxer, media.audio) = ("t.mp4", muxer, "avenc_alac")
      // Uses no h264parse: with this parser, the duration of the last packet depends on the release
      // (Quirk.h264parseDurations).
      media.video = media.video?.replacing(" ! h264parse", with: "")
    }
    let pipeline = try source(try media.write(to: folder), loop: loop)
    let (video, audio) = (try pipeline.appSink("video"), try pipeline.appSink("audio"))
    pipeline.set(.playing)
    var numbers: [Int] = []
    var audioData: [UInt8] = []
    while let sample = try pipeline.pull(video) { numbers.append(try sample.number()) }
    while let sample = try pipeline.pull(audio) { audioData += try sample.buffer.withBytes { Array($0) } }
    let there = Array(0..<750)
    let samples = media.audioBytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
    let frames = [
      "ping-pong": there + there.dropLast().reversed(), "reverse-forward": there.reversed() + there.dropFirst(),
      "forward": there,
    ]
    let expectedAudio = [
      "ping-pong": samples + samples.dropLast(1920).reversed(),
      "reverse-forward": samples.reversed() + samples.dropFirst(1920), "forward": samples,
    ]
    #expect(numbers == frames[loop])
    let isExact =
      try audioData.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) } == #require(expectedAudio[loop])
    #expect(isExact)
  }
}
