import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Summaries and file headers must report the frames and samples that reached the muxer.
@Suite struct MuxedTests {
  /// Writes one second of numbered frames at 60 fps, with audio of the same length.
  private func clip(_ folder: TemporaryFolder) throws -> (path: String, media: TestMedia) {
    var media = TestMedia.matroska
    media.times = TestMedia.regular(60, rate: 60)
    media.frameRate = "60/1"
    media.sampleCount = 48_000
    return (try media.write(to: folder), media)
  }

  private static let profile =
    "video/quicktime,variant=iso:video/x-raw,framerate=30/1->video/x-h264:audio/mpeg,mpegversion=4"

  @Test("frames that a profile drops are counted and reported")
  func droppedFrames() async throws {
    let folder = try TemporaryFolder()
    let (source, media) = try clip(folder)
    var options = ReverseOptions()
    options.encoding.profile = MuxedTests.profile
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("o.mp4"))
    let mirror = try DecodedMedia(folder.path("o.mp4"), like: media)
    #expect(summary.frames == mirror.numbers.count)
    #expect(summary.frames < 32)
    let warning = try #require(summary.warnings.first { $0.code == .notWritten })
    #expect(warning.message.contains("of 60 frames") && warning.message.contains("30/1"), "\(warning)")
    #expect((warning.count ?? 0) >= 60 - summary.frames)
    #expect(warning.span == TimeSpan(start: .zero, end: ClockTime(seconds: 1)), "all over it")
  }

  @Test("frames that a profile drops fail a strict run")
  func droppedFramesStrict() async throws {
    let folder = try TemporaryFolder()
    let (source, _) = try clip(folder)
    var options = ReverseOptions()
    options.encoding.profile = MuxedTests.profile
    options.output.isStrict = true
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: folder.path("o.mp4"))
    }
    #expect(error?.code == .damagedInput)
    #expect(folder.names == ["source.mkv"])
  }

  @Test(
    "the summary of a complete output counts all frames and samples",
    arguments: [
      "o.mp4", "o.mov", "o.mkv", "o.webm", "o.avi", "o.ts", "o.ogv", "o.wav", "o.flac", "o.mp3", "o.m4a", "o.m4b",
      "o.opus",
      "o.oga",
      "o.mka", "o.y4m", "o.gif", "o.webp", "o.apng", "o%03d.png",
    ])
  func completeCounts(output: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.frameRate = "30/1"
    media.sampleCount = 88_200
    media.rate = 44_100
    let source = try media.write(to: folder)
    let summary = try await Reverser(source).reverse(to: folder.path(output))
    let container = try Container.of(output)
    let hasVideo = container.imageFormat != nil || !container.videoCodecs.isEmpty
    #expect(summary.frames == (hasVideo ? 60 : 0))
    #expect(summary.samples == (container.imageFormat == nil ? [88_200] : []))
    // Theora can't store the declared colours.
    let expected: Set<Warning.Code> = output == "o.ogv" ? [.detailLeftOut] : [.streamLeftOut]
    #expect(summary.warnings.allSatisfy { expected.contains($0.code) }, "\(summary.warnings)")
  }

  /// With `lag-in-frames`, vp8enc and vp9enc may lose frames at the end. They drain libvpx only
  /// once, and libvpx then outputs frames only until its buffer is half full (`Quirk.vp9encLag`).
  @Test("no frames are lost at the end of VP8, VP9 and AV1", arguments: ["vp8", "vp9", "av1"])
  func delayedFrames(codec: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("noise.mkv")
    try TestSupport.run(
      pipeline: """
        videotestsrc pattern=snow num-buffers=40 ! video/x-raw,format=I420,width=64,height=48,framerate=10/1 ! matroskamux !
        filesink location=\(source)
        """)
    var options = ReverseOptions()
    options.encoding.videoCodec = codec
    options.encoding.bitrate = 2_000_000
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    #expect(summary.frames == 40)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
  }

  /// GStreamer's Windows Media encoders crash the process (see `Codec.choosingEncoders`).
  @Test("Windows Media audio is converted to another codec")
  func windowsMedia() async throws {
    let folder = try TemporaryFolder()
    let media = TestMedia.audioOnly("s.wma", "avenc_wmav2", muxer: "asfmux")
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.playback.loop = .pingPong
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("o.mka"))
    #expect(summary.warnings.map(\.count) == [2048], "\(summary.warnings)")
    let codecs = try await Reverser(folder.path("o.mka")).plan().streams.map(\.codec)
    #expect(codecs.count == 1 && !codecs[0].contains("Windows Media"), "\(codecs)")
  }

  @Test(
    "audio of any sample rate is encoded as MPEG layer II", arguments: [8000, 16_000, 22_050, 28_000, 32_000, 96_000],
    [1, 2])
  func layerTwo(rate: Int, channels: Int) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.video = nil
    media.rate = rate
    media.channels = channels
    media.sampleCount = rate
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.audioCodec = "mp2"
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("o.mka"))
    #expect(summary.samples == [rate])
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
  }

  /// Runs a pipeline file, whose encoding half is the pipeline after `---`.
  /// - Parameters:
  ///   - video: elements before the video encoder in the encoding half.
  ///   - audio: elements before the audio encoder in the encoding half.
  private func run(_ video: String, _ audio: String, _ folder: TemporaryFolder) async throws -> (Summary, DecodedMedia)
  {
    let (source, media) = try clip(folder)
    let file = try PipelineFile(
      """
      filesrc location=\(source) ! decodebin name=d
      d. ! video/x-raw ! appsink name=video
      d. ! audio/x-raw ! audioconvert ! appsink name=audio
      ---
      mp4mux name=m ! filesink location=\(folder.path("o.mp4"))
      appsrc name=video ! \(video) ! videoconvert ! x264enc bframes=2 ! h264parse ! queue ! m.
      appsrc name=audio ! audioconvert ! \(audio) ! audioconvert ! avenc_aac ! aacparse ! queue ! m.
      """, name: "f")
    let summary = try await file.start([:]).summary()
    return (summary, try DecodedMedia(folder.path("o.mp4"), like: media))
  }

  private func seconds(_ media: DecodedMedia) -> Double { Double(media.audio.count / 16) / 48_000 }

  @Test("if the encoding half of a pipeline file slows the media down, the summary counts all frames and samples")
  func slowedOutput() async throws {
    let folder = try TemporaryFolder()
    let (summary, mirror) = try await run("videorate rate=0.5", "pitch tempo=0.5", folder)
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(summary.frames == mirror.numbers.count)
    #expect(summary.frames >= 119, "twice as long, at as many frames a second")
    #expect(mirror.numbers.last == 0)
    #expect(abs(summary.duration.seconds - 2) < 0.05)
    #expect(abs(seconds(mirror) - 2) < 0.03, "\(seconds(mirror))")
    #expect(abs(Double(summary.samples[0]) / 48_000 - 2) < 0.01)
  }

  @Test("an output that gets no frames is not created")
  func emptyOutput() async throws {
    let folder = try TemporaryFolder()
    let (source, _) = try clip(folder)
    let file = try PipelineFile(
      """
      filesrc location=\(source) ! decodebin ! video/x-raw ! appsink name=video
      ---
      appsrc name=video ! identity drop-probability=1 ! videoconvert ! theoraenc ! oggmux ! filesink location=\(folder.path("o.ogv"))
      """, name: "f")
    let error = await #expect(throws: RetrogradeError.self) { _ = try await file.start([:]).summary() }
    #expect(error?.code == .cannotCreateOutput, "\(error?.message ?? "")")
    #expect(folder.names == ["source.mkv"])
  }

  @Test("if the encoding half of a pipeline file ends early, a warning reports the missing end")
  func earlyEnd() async throws {
    let folder = try TemporaryFolder()
    let (summary, mirror) = try await run("identity eos-after=21", "identity eos-after=6", folder)
    #expect(summary.frames == mirror.numbers.count)
    #expect(summary.frames == 20)
    let lost = summary.warnings.filter { $0.code == .notWritten }
    #expect(lost.map(\.count) == [40, 48_000 - summary.samples[0]])
    let spans = try lost.map { try #require($0.span) }
    // The end of the output is missing. This end is the start of the source.
    #expect(spans.allSatisfy { $0.start == .zero })
    #expect(abs(spans[0].end.seconds - 40.0 / 60) < 0.001, "\(spans[0])")
    #expect(abs(spans[1].end.seconds - Double(lost[1].count ?? 0) / 48_000) < 0.03, "\(spans[1])")
    #expect(mirror.audio.count / 16 >= summary.samples[0], "all that reached the muxer is heard")
    #expect(mirror.audio.count / 16 < summary.samples[0] + 1024)
  }

  /// Audio continues for half a second after the last frame. The output begins with this frame, and
  /// shows it for half a second more.
  @Test(
    "a frame that AVI can't show for long enough causes a warning", arguments: [("o.avi", true), ("o.mkv", false)])
  func heldFrame(_ name: String, _ isReported: Bool) async throws {
    let folder = try TemporaryFolder()
    var (_, media) = try clip(folder)
    media.sampleCount = 72_000
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    let warnings = try await Reverser(source, options: options).reverse(to: folder.path(name)).warnings
    #expect(warnings.map(\.code) == (isReported ? [.converted] : []), "\(warnings)")
    #expect(warnings.allSatisfy { $0.message.contains("59 frames are shown up to 0.5 s too early or") }, "\(warnings)")
    options.output.isStrict = true
    let strict = Reverser(source, options: options)
    if isReported {
      await #expect(throws: RetrogradeError.self) { _ = try await strict.reverse(to: folder.path("strict-" + name)) }
    } else {
      _ = try await strict.reverse(to: folder.path("strict-" + name))
    }
  }
}
