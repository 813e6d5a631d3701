import Foundation
import Containers
import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Reversals of whole files: properties that ``ReverseTests`` does not check, such as metadata.
@Suite struct LibraryTests {
  /// GStreamer reads the gapless info that LAME writes, but not that of FFmpeg (`Lavf`), so the
  /// engine reads both.
  @Test("the gapless info of an MP3 is applied", arguments: ["LAME", "Lavf"])
  func mp3Gapless(_ encoder: String) async throws {
    let folder = try TemporaryFolder()
    try await audio(30_001, folder, "m.mp3")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("m.mp3")))
    let place = try #require(bytes.range(of: Data("LAME3.100".utf8)))
    bytes.replaceSubrange(place.lowerBound..<place.lowerBound + 4, with: Data(encoder.utf8))
    try bytes.write(to: URL(fileURLWithPath: folder.path("n.mp3")))
    let summary = try await Reverser(folder.path("n.mp3")).reverse(to: folder.path("back.wav"))
    #expect(summary.samples == [30_001])
  }

  @Test("the last packet of an M4A is kept")
  func lastM4APacket() async throws {
    let folder = try TemporaryFolder()
    try await audio(30_001, folder, "m.m4a")
    let summary = try await Reverser(folder.path("m.m4a")).reverse(to: folder.path("back.wav"))
    #expect(summary.samples == [30_001])
  }

  /// Writes an audio file of `count` sample frames.
  private func audio(
    _ count: Int, _ folder: TemporaryFolder, _ name: String, codec: String? = nil
  ) async throws {
    let media = TestMedia.audioOnly("s.wav", muxer: "wavenc", sampleCount: count)
    let options = lossy { $0.encoding.audioCodec = codec }
    try await Reverser(try media.write(to: folder), options: options).reverse(to: folder.path(name))
  }

  @Test("Wave64 files are read")
  func wave64() async throws {
    let folder = try TemporaryFolder()
    // Sony's Wave64: like RIFF, but with 16-byte identifiers and 8-byte lengths. A length includes
    // the header of the Wave64 chunk; Wave64 chunks are padded to 8 bytes.
    func chunk(_ name: String, _ rest: [UInt8], _ body: [UInt8]) -> [UInt8] {
      Array(name.utf8) + rest + bytes(24 + body.count, 8) + body
        + [UInt8](repeating: 0, count: (8 - body.count % 8) % 8)
    }
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let samples = (0..<3001).flatMap { bytes($0 * 7 - 9000, 2) }
    let wave: [UInt8] = [0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1, 0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A]
    let format = bytes(1, 2) + bytes(1, 2) + bytes(8000, 4) + bytes(16000, 4) + bytes(2, 2) + bytes(16, 2)
    let body = chunk("fmt ", wave, format) + chunk("data", wave, samples)
    let riff: [UInt8] = [0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6, 0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00]
    let file = Array("riff".utf8) + riff + bytes(40 + body.count, 8) + Array("wave".utf8) + wave + body
    try Data(file).write(to: URL(fileURLWithPath: folder.path("s.w64")))
    try await Reverser(folder.path("s.w64")).reverse(to: folder.path("m.wav"))
    var media = TestMedia()
    media.video = nil
    media.sampleCount = 3001
    let mirror = try DecodedMedia(folder.path("m.wav"), like: media)
    #expect(mirror.audioCaps?.int("rate") == 8000)
    let decoded = mirror.audio.withUnsafeBytes { $0.bindMemory(to: Double.self).map { Int($0 * 32768) } }
    let isMirrored = decoded == (0..<3001).reversed().map { $0 * 7 - 9000 }
    #expect(isMirrored)
  }

  @Test("raw video without row padding is read correctly")
  func unpaddedVideo() throws {
    let caps = try #require(Caps("video/x-raw,format=I420,width=6,height=4,framerate=25/1"))
    func sample(_ count: Int) throws -> Sample {
      Sample(
        buffer: try Buffer(size: count) { bytes in for place in 0..<count { bytes[place] = UInt8(place) } }, caps: caps,
        segment: Segment())
    }
    // Rows of 6 and 3 bytes. GStreamer's own layout pads them to 8 and 4.
    let whole = 6 * 4 + 2 * 3 * 2
    let full = try #require(Caps("video/x-raw,format=Y444,width=6,height=4,framerate=25/1"))
    let converted = try #require(try sample(whole).withPlainLayout().fitted(to: full))
    let rows = try converted.buffer.withBytes { bytes in (0..<4).map { row in (0..<6).map { Int(bytes[row * 8 + $0]) } }
    }
    #expect(rows == (0..<4).map { row in Array(row * 6..<row * 6 + 6) })
    #expect(throws: GStreamerError.self) { try sample(whole - 1).withPlainLayout() }
  }

  /// The sink is full, or the stream ends, before the pipeline has reached PLAYING.
  @Test("a pipeline starts even if no consumer reads from it")
  func startWithoutConsumer() throws {
    for _ in 0..<300 {
      let pipeline = try Pipeline(
        "fakesrc num-buffers=4 sizetype=fixed ! appsink name=out sync=false async=false max-buffers=2")
      let sink = try pipeline.appSink("out")
      pipeline.set(.playing)
      var count = 0
      while sink.pull(timeout: ClockTime(seconds: 10)) != nil { count += 1 }
      #expect(count == 4)
    }
  }

  /// Returns options with the container's default codecs, and a quality that keeps the frame
  /// numbers readable.
  private func lossy(_ change: (inout ReverseOptions) -> Void = { _ in }) -> ReverseOptions {
    var options = ReverseOptions()
    options.encoding.quality = .high
    change(&options)
    return options
  }

  @Test(
    "the orientation tag is kept if frames are not rotated",
    arguments: [
      "rotate-90", "rotate-180", "rotate-270", "flip-rotate-0", "flip-rotate-90", "flip-rotate-180", "flip-rotate-270",
    ])
  func orientation(orientation: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.orientation = orientation
    let source = try media.write(to: folder)
    let summary = try await Reverser(source, options: lossy()).reverse(to: folder.path("m.mp4"))
    let size = orientation.hasSuffix("90") || orientation.hasSuffix("270") ? "64x96" : "96x64"
    #expect(summary.written?.streams.first?.summary.first == size)
    let mirror = try DecodedMedia(folder.path("m.mp4"), like: media)
    // qtdemux 1.22 does not know one of the orientations, so the test reads the header instead.
    #expect(
      ContainerFacts(folder.path("m.mp4")).tracks.filter { $0.kind == .video }.map(\.orientation) == [orientation])
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
    for file in [source, folder.path("m.mp4")] {
      #expect(try matrix(in: file) == LibraryTests.displayedSteps(orientation))
    }
  }

  /// Returns two steps in the displayed frame, each as x and y: the step that is to the right in
  /// the stored frame, and the step that is down. The frame is first flipped horizontally, then
  /// rotated clockwise in quarters (GST_TAG_IMAGE_ORIENTATION).
  private static func displayedSteps(_ orientation: String) -> [Int32] {
    var steps: [(x: Int32, y: Int32)] = [(orientation.hasPrefix("flip") ? -1 : 1, 0), (0, 1)]
    let quarters = (Int(orientation.split(separator: "-").last ?? "") ?? 0) / 90
    for _ in 0..<quarters { steps = steps.map { (-$0.y, $0.x) } }
    return steps.flatMap { [$0.x, $0.y] }
  }

  /// Reads entries a, b, c and d of the first track's matrix, and converts them from 16.16 fixed
  /// point: the directions of a step to the right and a step down (ISO/IEC 14496-12, 8.3.2 and
  /// 6.2.2).
  private func matrix(in path: String) throws -> [Int32] {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let name = try #require(bytes.firstRange(of: Array("tkhd".utf8)))
    let matrix = name.upperBound + (bytes[name.upperBound] == 1 ? 52 : 40)
    return [0, 4, 12, 16].map { offset in
      bytes[matrix + offset..<matrix + offset + 4].reduce(Int32(0)) { $0 << 8 | Int32($1) } / 65_536
    }
  }

  /// GStreamer's `videoflip video-direction=auto` gives the same frames.
  @Test(
    "frames are rotated according to their orientation tag",
    arguments: [
      "rotate-90", "rotate-180", "rotate-270", "flip-rotate-0", "flip-rotate-90", "flip-rotate-180", "flip-rotate-270",
    ])
  func rotatedByTag(orientation: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(6, rate: 25)
    media.video = "jpegenc"
    media.name = "source.mov"
    media.muxer = "qtmux"
    media.orientation = orientation
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    func numbers(_ description: String) throws -> [[UInt8]] {
      try DecodedMedia.buffers(of: "\(description) ! videoconvert ! video/x-raw,format=GRAY8")
    }
    let rotated = try numbers(
      "filesrc location=\(source) ! qtdemux ! avdec_mjpeg ! taginject tags=\"image-orientation=\(orientation)\" ! "
        + "videoflip video-direction=auto")
    #expect(try numbers("filesrc location=\(folder.path("m.mkv")) ! matroskademux ! avdec_ffv1") == rotated.reversed())
  }

  @Test("frames are rotated if the output gets no orientation tag")
  func rotatedForContainer() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.orientation = "rotate-90"
    let source = try media.write(to: folder)
    try await Reverser(source, options: lossy()).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.tags?.string("image-orientation") ?? "rotate-0" == "rotate-0")
    #expect(mirror.videoCaps?.int("width") == media.height)
    #expect(mirror.videoCaps?.int("height") == media.width)
    // After a clockwise rotation, the block at row r, column c is at row c, column 3 - r.
    let expected = (0..<media.frameCount).reversed().map { number in
      (0..<16).reduce(0) { rotated, block in
        number >> block & 1 == 1 ? rotated | 1 << (block % 4 * 4 + 3 - block / 4) : rotated
      }
    }
    #expect(mirror.numbers == expected)
  }

  @Test("titles are kept", arguments: ["m.mp4", "m.mov", "m.mkv"])
  func titles(output: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "matroskamux"
    media.name = "s.mkv"
    media.title = "A day at the sea"
    let source = try media.write(to: folder)
    try await Reverser(source, options: lossy()).reverse(to: folder.path(output))
    let mirror = try Source(folder.path(output), resources: Resources(), cancellation: Cancellation())
    #expect(
      try Topology(probing: mirror.path, mirror.sourceDescription, mirror.facts, Cancellation()).title
        == "A day at the sea")
  }

  /// AAC adds 1,024 samples of priming, Opus 312. Removing the priming must not move the audio.
  @Test(
    "lossy audio stays in sync", arguments: [("m.mp4", "aac"), ("m.mkv", "aac"), ("m.ts", "aac"), ("m.mp4", "opus")])
  func lossyAudioSync(output: String, codec: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "matroskamux"
    media.name = "s.mkv"
    media.sampleCount = 96_000
    let click = 30_000
    media.click = click
    let source = try media.write(to: folder)
    try await Reverser(source, options: lossy { $0.encoding.audioCodec = codec }).reverse(to: folder.path(output))
    let mirror = try DecodedMedia(folder.path(output), like: media)
    let frame = try #require(mirror.times.first)
    let audio = try #require(mirror.audioStart)
    let loudest = mirror.audio.withUnsafeBytes { bytes in
      let samples = bytes.bindMemory(to: Double.self)
      return stride(from: 0, to: samples.count, by: media.channels).max { abs(samples[$0]) < abs(samples[$1]) } ?? 0
    }
    let found = audio + ClockTime(sampleIndex: loudest / media.channels, rate: media.rate) - frame
    let expected = ClockTime(sampleIndex: media.sampleCount - 1 - click, rate: media.rate)
    #expect(abs((found - expected).seconds) < 0.001, "the click comes at \(found), and not at \(expected)")
  }

  @Test("Ogg keeps the last frames")
  func lastFramesInOgg() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.sampleCount = 96_000
    // Theora in Ogg can't store a variable frame rate, so the first run is refused.
    let source = try media.write(to: folder)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: lossy()).reverse(to: folder.path("m.ogv"))
    }
    #expect(error?.code == .usage)
    try await Reverser(source, options: lossy { $0.playback.frameRate = FrameRate(30, 1) }).reverse(
      to: folder.path("m.ogv"))
    let mirror = try DecodedMedia(folder.path("m.ogv"), like: media)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
  }

  @Test("FLAC of 16 samples is exact, or is refused if flacenc loses audio of a single block")
  func shortFLAC() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    (media.video, media.muxer, media.audio, media.name) = (nil, "wavenc", "identity", "s.wav")
    media.sampleCount = 16
    let source = try media.write(to: folder)
    let mirror = folder.path("m.flac")
    guard FLACBlocks.fewestSamples > 16 else {
      try await Reverser(source).reverse(to: mirror)
      let samples = try FFmpeg.samples(source)
      let frames = stride(from: 0, to: samples.count, by: 2).map { Array(samples[$0..<$0 + 2]) }
      #expect(frames.count == 16)
      #expect(try FFmpeg.samples(mirror) == Array(frames.reversed().joined()))
      return
    }
    let error = await #expect(throws: RetrogradeError.self) { try await Reverser(source).reverse(to: mirror) }
    #expect(error?.code == .usage && error?.message.contains("use .wav") == true)
    #expect(folder.names == ["s.wav"])
    try await Reverser(source).reverse(to: folder.path("m.wav"))
  }

  @Test("Opus audio shorter than a packet is refused", arguments: ["m.opus", "m.mka"])
  func shortOpus(_ output: String) async throws {
    let folder = try TemporaryFolder()
    func reverse(_ samples: Int) async throws {
      let source = try TestMedia.audioOnly("s.wav", muxer: "wavenc", sampleCount: samples).write(to: folder)
      let options = lossy { $0.encoding.audioCodec = "opus" }
      try await Reverser(source, options: options).reverse(to: folder.path(output))
    }
    let error = await #expect(throws: RetrogradeError.self) { try await reverse(959) }
    #expect(error?.code == .usage && folder.names == ["s.wav"])
    try await reverse(960)
    #expect(try FFmpeg.samples(folder.path(output)).count == 2 * 960)
  }

  /// qtmux writes the numbers in the `dOps` box in little-endian order. They must be corrected to
  /// big-endian, because players skip as many samples as the box declares (pre-skip).
  @Test("the Opus header in MP4 has the byte order that players need")
  func opusInMP4() async throws {
    let folder = try TemporaryFolder()
    try await audio(48_000, folder, "m.mp4", codec: "opus")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("m.mp4")))
    let place = try #require(bytes.range(of: Data("dOps".utf8)))
    #expect(Array(bytes[place.upperBound + 2..<place.upperBound + 8]) == [0x01, 0x38, 0x00, 0x00, 0xBB, 0x80])
  }

  /// The source has side speakers but no rear ones. Opus and Vorbis have no such layout.
  @Test("surround audio keeps its channels", arguments: ["m.webm", "m.ogg", "m.m4a"])
  func surroundChannels(_ output: String) async throws {
    let folder = try TemporaryFolder()
    let pipeline = try Pipeline(
      "audiotestsrc num-buffers=10 ! audio/x-raw,rate=48000,channels=6,channel-mask=(bitmask)0xc0f,format=S16LE ! wavenc ! "
        + "filesink location=\(folder.path("s.wav"))")
    pipeline.set(.playing)
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 10)) {
      if case .endOfStream = message { break }
    }
    pipeline.set(.null)
    try await Reverser(folder.path("s.wav")).reverse(to: folder.path(output))
    let report = try await Reverser(folder.path(output)).plan()
    #expect(report.streams.map(\.format).allSatisfy { $0.contains("channels=(int)6") })
  }

  @Test("a trim is exact to the frame")
  func exactTrim() async throws {
    let folder = try TemporaryFolder()
    let media = TestMedia()
    let source = try media.write(to: folder)
    let options = lossy {
      $0.playback.start = .frame(7)
      $0.playback.end = .time(ClockTime(seconds: 1))
    }
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mp4"))
    #expect(summary.frames == 23)
    #expect(try DecodedMedia(folder.path("m.mp4"), like: media).numbers == (7..<30).reversed())
  }

  @Test("several reversals can run at once in one process")
  func concurrentReversals() async throws {
    let folder = try TemporaryFolder()
    let media = TestMedia()
    let source = try media.write(to: folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          _ = try await Reverser(source, options: self.lossy()).reverse(to: folder.path("m\(number).mp4"))
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<4 {
      let mirror = try DecodedMedia(folder.path("m\(number).mp4"), like: media)
      #expect(mirror.numbers == (0..<media.frameCount).reversed())
    }
  }

  @Test("cancelling leaves no file", arguments: [0, 1, 5])
  func cancelledReversal(reports: Int) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(300, rate: 30)
    let source = try media.write(to: folder)
    let reversal = Reverser(source).start(to: folder.path("m.mp4"))
    // Cancels at once, or after `reports` progress reports.
    if reports > 0 {
      var seen = 0
      for await _ in reversal.progress {
        seen += 1
        if seen >= reports { break }
      }
    }
    reversal.cancel()
    // If the work was finished before the cancellation, the file is complete.
    do {
      #expect(try await reversal.summary().frames == media.frameCount)
    } catch is CancellationError {
      #expect(folder.names == ["source.mp4"])
    }
  }

  @Test("a task cancelled before it starts writes nothing")
  func cancelledTask() async throws {
    let folder = try TemporaryFolder()
    let source = try TestMedia().write(to: folder)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await Reverser(source).reverse(to: folder.path("m.mp4"))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(folder.names == ["source.mp4"])
  }
}

extension Topology {
  fileprivate var title: String? { streams.compactMap { $0.globalTags?.string("title") }.first }
}

/// Loops over whole files.
@Suite struct LoopedFileTests {
  @Test("a ping-pong shows each turn once, and its audio stays in sync", arguments: [1, 3])
  func pingPong(count: Int) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.muxer = "matroskamux"
    media.name = "s.mkv"
    // A frame lasts 40 ms, a whole number of Matroska's milliseconds. At each turn, the audio skips
    // 1,920 samples, the duration of a frame.
    media.times = TestMedia.regular(60, rate: 25)
    media.sampleCount = 60 * 1920
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.resources.memory = ByteCount(1 << 20)
    options.playback.loop = .pingPong
    options.playback.count = count
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    let frames = Array(0..<60)
    let backwards = Array((0..<59).reversed())
    #expect(mirror.numbers == frames + backwards + (1..<count).flatMap { _ in Array(frames.dropFirst()) + backwards })
    let audio = try DecodedMedia(source, like: media).audio
    let size = 16  // size of a sample frame: two channels of 64-bit floats
    let forward = stride(from: 0, to: audio.count, by: size).map { Array(audio[$0..<$0 + size]) }
    let backward = Array(forward.dropLast(1920).reversed())
    let output = stride(from: 0, to: mirror.audio.count, by: size).map { Array(mirror.audio[$0..<$0 + size]) }
    let expected = forward + backward + (1..<count).flatMap { _ in Array(forward.dropFirst(1920)) + backward }
    let isExact = output == expected  // a Bool, so that a failure does not print every sample
    #expect(isExact)
    let last = try #require(mirror.times.last)
    #expect(summary.duration == last + ClockTime(nanoseconds: 40_000_000))
  }
}
