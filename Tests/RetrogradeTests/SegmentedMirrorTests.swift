import Foundation
import GStreamer
import MediaTime
import Synchronization
import TestSupport
import Testing

@testable import Containers
@testable import Retrograde
@testable import RetrogradeEngine

/// All segments, joined, equal the output of `reverse`: frame for frame and sample for sample.
@Suite struct SegmentedMirrorTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Media of four seconds, in GOPs of 20 frames.
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

  /// Returns the fragments of a segment, as the mirror delivers them.
  private func parts(_ mirror: SegmentedMirror, _ number: Int, from piece: Int = 0) throws -> [[UInt8]] {
    let parts = Mutex<[[UInt8]]>([])
    try mirror.segment(number, from: piece, of: 0, Cancellation()) { more in parts.withLock { $0.append(more) } }
    return parts.withLock { $0 }
  }

  @Test("a segment can be delivered from any of its fragments on")
  func segmentPieces() async throws {
    let source = try media.write(to: folder)
    let mirror = try mirror(source, settings())
    let whole = try FFmpeg.frames(try write(mirror, 0, "video.mp4"))
    let header = try mirror.initialization(0, Cancellation())
    for (number, segment) in mirror.renditions[0].segments.enumerated() {
      let count = mirror.pieces(ofSegment: number, of: 0)
      #expect(count == Int((segment.duration.seconds / 0.25).rounded(.up)))
      for piece in 0..<count {
        let parts = try parts(mirror, number, from: piece)
        #expect(parts.count == count - piece, "each is delivered separately")
        try Data(header + parts.joined()).write(to: URL(fileURLWithPath: folder.path("part.mp4")))
        let frames = try FFmpeg.frames(folder.path("part.mp4"))
        let start = segment.start + SegmentedMirror.pieceLength * piece
        // The first frame is the frame that is shown when the fragment starts.
        let first = mirror.frameStarts.endOfPrefix { $0 <= start } - 1
        let end = mirror.frameStarts.endOfPrefix { $0 < segment.end }
        #expect(frames.map(\.sum) == whole[first..<end].map(\.sum), "\(number) \(piece)")
        // FFmpeg's times are relative to the first frame, so the start time is read from the
        // fragment itself.
        let times = whole[first..<end].map { $0.time - whole[first].time }
        #expect(zip(frames, times).allSatisfy { abs($0.time - $1) <= 1 }, "\(number) \(piece)")
        let begin = try #require(parts[0].box("traf", "tfdt", in: Box.all(in: parts[0][...])[1].body))
        let time = ClockTime(sampleIndex: parts[0].integer(begin.lowerBound + 8), rate: 90_000)
        #expect(time == mirror.frameStarts[first])
      }
      #expect(throws: RetrogradeError.self) { _ = try parts(mirror, number, from: count) }
    }
    #expect(mirror.pieces(ofSegment: 0, of: 1) == 1)
    #expect(mirror.pieces(ofSegment: 99, of: 0) == 0 && mirror.pieces(ofSegment: 0, of: 9) == 0)
  }

  /// If a GOP does not fit in memory and a viewer is waiting for it, the end of the GOP is decoded
  /// before the rest.
  @Test("a GOP that does not fit in memory has the right frames", arguments: [4, 30, 80])
  func largeGOP(_ room: Int) throws {
    var media = media
    media.video = "x264enc key-int-max=120 bframes=2 speed-preset=ultrafast qp-max=20 ! h264parse"
    let source = try media.write(to: folder)
    let whole = try frames(source, Resources(), isWatched: false)
    let resources = Resources(memory: ByteCount(room * whole.plan.frameBytes))
    let watched = try frames(source, resources, isWatched: true)
    #expect(watched.frames.map(\.shown) == whole.frames.map(\.shown) && whole.frames.count == 120)
    for (one, other) in zip(watched.frames, whole.frames) {
      #expect(try one.buffer.hasSamePixels(as: other.buffer, one.caps))
    }
    #expect(watched.plan.windows.count == 2 && watched.plan.windows.first?.spooled == 0)
    // A third of the memory is reserved for data other than windows.
    #expect(watched.plan.windows.first?.frames == 120 - min(45, room * 2 / 3 - 1)..<120)
    // If no viewer is waiting, no frame is decoded twice.
    let unwatched = try PlayableSource.open([source], ReverseOptions(resources: resources), Work())
    let video = try #require(unwatched.video)
    #expect(video.plan.windows.count == 1 && video.plan(0..<120) == video.plan)

    var settings = settings()
    settings.resources = resources
    let mirror = try mirror(source, settings)
    let usual = try self.mirror(source, self.settings())
    let tight = try FFmpeg.frames(try write(mirror, 0, "tight.mp4"))
    let roomy = try FFmpeg.frames(try write(usual, 0, "roomy.mp4"))
    #expect(tight.map(\.sum) == roomy.map(\.sum) && tight.map(\.time) == roomy.map(\.time))
  }

  /// Plays a source from its end, and returns the frames.
  private func frames(
    _ path: String, _ resources: Resources, isWatched: Bool
  ) throws -> (frames: [VideoPlayer.Frame], plan: Plan) {
    let source = try PlayableSource.open(
      [path], ReverseOptions(resources: resources), Work(), purpose: isWatched ? .watching : .output)
    let video = try #require(source.video)
    let player = VideoPlayer(video, source.legs, timing: .mirror, Cancellation())
    var frames: [VideoPlayer.Frame] = []
    while let frame = try player.next() { frames.append(frame) }
    return (frames, video.plan)
  }

  private func mirror(_ source: String, _ settings: SegmentedMirror.Settings) throws -> SegmentedMirror {
    try SegmentedMirror(source, settings, Cancellation())
  }

  /// Writes the segments of a rendition one after the other. Three threads make the segments in
  /// random order.
  private func write(_ mirror: SegmentedMirror, _ rendition: Int, _ name: String) throws -> String {
    var generator = SeededGenerator(7)
    let numbers = mirror.renditions[rendition].segments.indices.shuffled(using: &generator)
    let makers = try (0..<3).map { maker in
      try Worker("segments \(maker)") {
        try numbers.enumerated().filter { $0.offset % 3 == maker }.map { _, number in
          (number, try mirror.segment(number, of: rendition, Cancellation()))
        }
      }
    }
    let segments = try makers.flatMap { try $0.join() }.sorted { $0.0 < $1.0 }
    let bytes = try segments.reduce(mirror.initialization(rendition, Cancellation())) { $0 + $1.1 }
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

  @Test("frames and samples of the segments equal those of the whole output", arguments: orders)
  func joinedSegments(_ order: Order) async throws {
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

  struct TestAudio: Sendable {
    var channels: Int
    var rate: Int
    var wave: String
  }

  /// AAC must lose no more at segment boundaries than elsewhere. The cases are tones, noise and
  /// ticks.
  @Test(
    "AAC has no audible joints between segments",
    arguments: [
      TestAudio(channels: 1, rate: 44_100, wave: "sine freq=440"),
      TestAudio(channels: 2, rate: 48_000, wave: "pink-noise"),
      TestAudio(channels: 6, rate: 48_000, wave: "sine freq=50"),
      TestAudio(channels: 2, rate: 22_050, wave: "ticks tick-interval=130000000"),
    ])
  func aacJoints(_ audio: TestAudio) async throws {
    let source = folder.path("a.mka")
    try run(
      pipeline: "audiotestsrc num-buffers=\(audio.rate * 3 / 1000) samplesperbuffer=1000 wave=\(audio.wave) ! "
        + "audio/x-raw,format=S16LE,rate=\(audio.rate),channels=\(audio.channels) ! flacenc ! matroskamux ! "
        + "filesink location=\(source)")
    var settings = settings()
    settings.isLossless = false
    let mirror = try mirror(source, settings)
    let rendition = mirror.renditions[0]
    let decoded = try FFmpeg.samples(try write(mirror, 0, "aac.mp4"))
    try await Reverser(source).reverse(to: folder.path("whole.wav"))
    let whole = try FFmpeg.samples(folder.path("whole.wav"))
    // FFmpeg also outputs the padding in the last packet.
    #expect(
      decoded.count / audio.channels - whole.count / audio.channels < PacketGrid.AAC && decoded.count >= whole.count)
    let errors = Self.errors(decoded, whole, audio.channels)
    let joints = Set(
      rendition.segments.dropFirst().flatMap { segment in
        let block = segment.start.sampleIndex(rate: audio.rate) / Self.block
        return block - 8...block + 8
      })
    // The loss is larger at the start and end of the audio, where a tone is truncated.
    let inner = errors.indices.dropFirst(16).dropLast(16)
    func most(_ isJoint: Bool) -> Float {
      inner.filter { joints.contains($0) == isJoint }.map { errors[$0] }.max() ?? 0
    }
    #expect(rendition.segments.count > 4)
    // avenc_aac 1.22 may encode the same samples to different packets in each run. A loss larger by
    // a fifth was observed in one block, so the limit is higher.
    #expect(most(true) <= most(false) * 1.5)
  }

  private static let block = 128

  /// Computes the root mean square of the difference, in each block of sample frames.
  private static func errors(_ a: [Float32], _ b: [Float32], _ channels: Int) -> [Float] {
    let size = block * channels
    return stride(from: 0, to: min(a.count, b.count) - size + 1, by: size).map { start in
      let sum = (start..<start + size).reduce(Float(0)) { $0 + (a[$1] - b[$1]) * (a[$1] - b[$1]) }
      return (sum / Float(size)).squareRoot()
    }
  }

  @Test("a cancelled segment stops within a second")
  func cancelledSegment() throws {
    let path = folder.path("a.mkv")
    try run(
      pipeline: "videotestsrc pattern=snow num-buffers=90 ! video/x-raw,width=1280,height=720,framerate=30/1 ! "
        + "x264enc speed-preset=ultrafast key-int-max=90 ! matroskamux ! filesink location=\(path)")
    let mirror = try SegmentedMirror(path, SegmentedMirror.Settings(), Cancellation())
    // To choose a way of reading, the engine decodes some frames while it opens the source, and
    // keeps them in memory. Making this segment uses these frames up.
    _ = try mirror.segment(0, of: 0, Cancellation())
    let before = mirror.memoryHeld
    #expect(before.bytes == 0)
    for _ in 0..<2 {
      let cancellation = Cancellation()
      let maker = try Worker("segment") { try mirror.segment(1, of: 0, cancellation) }
      // Waits until the segment is being decoded.
      while mirror.memoryHeld.bytes <= before.bytes { sched_yield() }
      let watch = Stopwatch()
      cancellation.cancel()
      #expect(throws: CancellationError.self) { try maker.join() }
      #expect(watch.elapsed < .seconds(1))
      #expect(mirror.memoryHeld.bytes <= before.bytes)
    }
    #expect(throws: CancellationError.self) {
      let cancellation = Cancellation()
      cancellation.cancel()
      _ = try mirror.picture(at: .zero, height: 90, cancellation)
    }
    #expect(!(try mirror.segment(0, of: 0, Cancellation())).isEmpty)
  }

  /// If the source's codec can be encoded in real time, the server also offers that codec. The
  /// rendition in that codec has the same frames at the same times as the H.264 rendition.
  @Test(
    "the source's own codec is offered beside H.264",
    arguments: [
      ("VP9", "vp9enc deadline=1 cpu-used=8 lag-in-frames=0 keyframe-max-dist=20 ! vp9parse", "vp09.00.10.08"),
      ("HEVC", "x265enc speed-preset=ultrafast key-int-max=20 ! h265parse", "hvc1.1.6.L60.90"),
    ])
  func sourceCodec(_ codec: String, _ encoder: String, _ codecs: String) throws {
    var media = TestMedia()
    (media.times, media.frameRate) = (TestMedia.regular(120, rate: 30), "30/1")
    (media.video, media.muxer) = (encoder, "matroskamux")
    var settings = settings()
    settings.isLossless = false
    let mirror = try mirror(try media.write(to: folder), settings)
    #expect(mirror.renditions.map(\.name) == ["64", "64-\(codec.lowercased())"])
    #expect(mirror.renditions.map(\.sourceCodec) == [nil, codec])
    #expect(mirror.renditions[1].codecs == codecs)
    #expect(mirror.renditions[0].segments == mirror.renditions[1].segments)
    let movie = try write(mirror, 1, "own.mp4")
    let usual = try FFmpeg.frames(try write(mirror, 0, "h264.mp4"))
    #expect(try FFmpeg.frames(movie).map(\.time) == usual.map(\.time))
    // Decodes with FFmpeg, because qtdemux 1.22 may misread the frame rate of a fragment. vp9dec
    // then drops all frames of the fragment.
    let raw = try FFmpeg.bytes(
      ["-i", movie, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-"])
    let numbers = stride(from: 0, to: raw.count, by: 96 * 64).map { start in
      TestMedia.number(width: 96, height: 64) { x, y in raw[start + y * 96 + x] }
    }
    #expect(numbers == (0..<120).reversed())
    #expect(throws: RetrogradeError.self) { _ = try mirror.segment(0, of: 2, Cancellation()) }
  }

  /// Noise does not compress, so an encoder uses all of the allowed bandwidth.
  @Test(
    "no segment exceeds the bandwidth of its rendition",
    arguments: [
      "x264enc speed-preset=ultrafast pass=qual quantizer=20 vbv-buf-capacity=0",
      "vp9enc deadline=1 cpu-used=8 end-usage=cq cq-level=10 target-bitrate=20000000",
      "x265enc speed-preset=ultrafast qp=20 ! h265parse",
    ])
  func bandwidth(_ encoder: String) throws {
    let path = folder.path("a.mkv")
    try run(
      pipeline: "videotestsrc pattern=snow num-buffers=90 ! video/x-raw,width=160,height=120,framerate=30/1 ! "
        + "\(encoder) ! matroskamux name=m ! "
        + "filesink location=\(path) audiotestsrc wave=white-noise num-buffers=130 ! "
        + "audio/x-raw,rate=44100,channels=2 ! flacenc ! m.")
    var settings = settings()
    (settings.isLossless, settings.heights) = (false, [60, 1080, 120])
    let mirror = try mirror(path, settings)
    let own = ["vp9enc": "-vp9", "x265enc": "-hevc"][String(encoder.prefix { $0 != " " })]
    let videos = ["120", "60"].flatMap { height in [height] + [own.map { height + $0 }].compactMap { $0 } }
    #expect(mirror.renditions.map(\.name) == videos + ["audio"])
    guard case .video(width: 160, height: 120, frameRate: _) = mirror.renditions[0].kind else {
      Issue.record("\(mirror.renditions[0])")
      return
    }
    #expect(mirror.renditions[0].segments == mirror.renditions[1].segments)
    for (number, rendition) in mirror.renditions.enumerated() {
      var whole = 0
      for (place, segment) in rendition.segments.enumerated() {
        let size = try mirror.segment(place, of: number, Cancellation()).count
        whole += size
        let length = max(segment.duration, settings.target / 2)
        #expect(Double(size) * 8 <= Double(rendition.peakBandwidth) * length.seconds, "\(rendition.name) \(place)")
      }
      // The first two segments are shorter than usual. So the rendition has more segments, each
      // with its own overhead.
      #expect(Double(whole) * 8 <= Double(rendition.averageBandwidth) * (mirror.duration + settings.target).seconds)
    }
  }

  /// Rotated video is encoded upright. Browsers play only 8-bit 4:2:0.
  @Test("frames are upright and in a format that browsers play")
  func browserFormat() throws {
    var media = TestMedia()
    (media.orientation, media.video) = (
      "rotate-90", "videoconvert ! video/x-raw,format=Y444 ! x264enc bframes=0 ! h264parse"
    )
    let mirror = try SegmentedMirror(try media.write(to: folder), SegmentedMirror.Settings(), Cancellation())
    guard case .video(width: 64, height: 96, frameRate: _) = mirror.renditions[0].kind else {
      Issue.record("\(mirror.renditions[0])")
      return
    }
    let video = try write(mirror, 0, "video.mp4")
    #expect(try FFmpeg.frames(video).count == mirror.frameStarts.count)
    let caps = try #require(try DecodedMedia(video, like: media).videoCaps)
    #expect(caps.string("format") == "I420" && caps.int("width") == 64)
    #expect(mirror.renditions[0].codecs.hasPrefix("avc1.64"))
    let picture = folder.path("p.jpg")
    try Data(mirror.picture(at: .zero, height: 48, Cancellation())).write(to: URL(fileURLWithPath: picture))
    let size = try DecodedMedia.buffers(
      of: "filesrc location=\(picture) ! jpegdec ! videoconvert ! video/x-raw,format=GRAY8")
    #expect(size.first?.count == 32 * 48)
  }

  @Test("thumbnails, subtitles and chapters match the output")
  func presentation() throws {
    var media = media
    media.sampleCount = 0
    let movie = try media.write(to: folder)
    try Data("1\n00:00:00,500 --> 00:00:01,500\nFirst\n\n2\n00:00:03,000 --> 00:00:03,750\nLast\n".utf8).write(
      to: URL(fileURLWithPath: folder.path("a.srt")))
    let path = folder.path("with.mkv")
    let pipeline = try Pipeline(
      "filesrc location=\(movie) ! matroskademux ! h264parse ! matroskamux name=m ! filesink location=\(path) "
        + "filesrc location=\(folder.path("a.srt")) ! subparse ! capssetter replace=true caps=text/x-raw,format=utf8 ! queue ! m."
    )
    let chapters = [("One", 0.0, 1.0), ("Two", 1.0, 4.0)].map {
      TableOfContents.Entry(start: .seconds($0.1), end: .seconds($0.2), title: $0.0, children: [])
    }
    #expect(pipeline.setTableOfContents(TableOfContents(entries: chapters)))
    pipeline.set(.playing)
    while let message = pipeline.nextMessage(timeout: ClockTime(seconds: 60)) {
      if case .endOfStream = message { break }
      if case .failed(let error) = message { throw error }
    }
    pipeline.set(.null)
    let mirror = try mirror(path, settings())
    #expect(mirror.duration == .seconds(4))
    #expect(mirror.chapters.map(\.title) == ["Two", "One"])
    #expect(mirror.chapters.map(\.span.end) == [.seconds(3), .seconds(4)])
    #expect(
      mirror.subtitles.map(\.text) == [
        "WEBVTT\n\n00:00:00.250 --> 00:00:01.000\nLast\n\n00:00:02.500 --> 00:00:03.500\nFirst\n\n"
      ])
    func number(_ time: Double, isExact: Bool = true) throws -> Int {
      let name = folder.path("p.jpg")
      let bytes = try mirror.picture(at: .seconds(time), height: 64, isExact: isExact, Cancellation())
      try Data(bytes).write(to: URL(fileURLWithPath: name))
      let pixels = try DecodedMedia.buffers(
        of: "filesrc location=\(name) ! jpegdec ! videoconvert ! video/x-raw,format=GRAY8")[0]
      return TestMedia.number(width: 96, height: 64) { x, y in pixels[y * 96 + x] }
    }
    #expect(try [-1, 0, 1.01, 3.99, 9].map { try number($0) } == [119, 119, 89, 0, 0])
    // Keyframes of the source are 0, 20, 40 and so on.
    #expect(try number(1.01, isExact: false) == 80)
    #expect(try mirror.waveform(0..<10, of: 10, Cancellation()) == [])
  }

  @Test("the waveform shows the output, not the source")
  func waveform() throws {
    var media = TestMedia.audioOnly("a.wav", muxer: "wavenc", sampleCount: 96_000)
    media.click = 18_000
    let mirror = try mirror(try media.write(to: folder), settings())
    let peaks = try mirror.waveform(0..<8, of: 8, Cancellation())
    // The click has a peak of 20,000 of 32,768, and is in the second eighth of the source.
    #expect(peaks.enumerated().allSatisfy { $0 == 6 ? abs($1 - 0.61) < 0.01 : $1 == 0 }, "\(peaks)")
    let parts = try [0..<3, 3..<7, 7..<8].flatMap { try mirror.waveform($0, of: 8, Cancellation()) }
    #expect(parts == peaks)
    #expect(try mirror.waveform(0..<1, of: 1, Cancellation()).count == 1)
    for (points, count) in [(0..<0, 0), (-1..<1, 8), (0..<9, 8), (0..<1, 100_001)] {
      #expect(throws: RetrogradeError.self) { _ = try mirror.waveform(points, of: count, Cancellation()) }
    }
  }

  @Test("invalid segments, renditions, heights and options are refused")
  func invalidRequests() throws {
    let mirror = try mirror(try media.write(to: folder), settings())
    let calls: [() throws -> Void] = [
      { _ = try mirror.segment(-1, of: 0, Cancellation()) }, { _ = try mirror.segment(1000, of: 0, Cancellation()) },
      { _ = try mirror.segment(0, of: 9, Cancellation()) }, { _ = try mirror.initialization(-1, Cancellation()) },
      { _ = try mirror.picture(at: .zero, height: 0, Cancellation()) },
    ]
    for call in calls { #expect(throws: RetrogradeError.self) { try call() } }
    var settings = settings()
    settings.playback.interpolation = .blend
    #expect(throws: RetrogradeError.self) {
      _ = try SegmentedMirror(folder.path("source.mkv"), settings, Cancellation())
    }
  }

  @Test("a loop with too many rounds is refused")
  func tooManyRounds() throws {
    let path = try media.write(to: folder)
    var settings = settings()
    settings.playback.count = 100_000
    let error = #expect(throws: RetrogradeError.self) { _ = try SegmentedMirror(path, settings, Cancellation()) }
    #expect(
      error?.code == .usage && error?.description.contains("can't be made into segments") ?? false,
      "\(String(describing: error))")
  }

  /// AAC has no sample rate above 96 kHz, so the video plays without audio.
  @Test("audio that AAC can't store is left out")
  func highSampleRate() throws {
    let movie = folder.path("a.mkv")
    let audio = "audiotestsrc num-buffers=20 ! audio/x-raw,format=S16LE,rate=192000,channels=2 ! flacenc"
    try run(
      pipeline: "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=48,framerate=30/1 ! "
        + "x264enc speed-preset=ultrafast ! matroskamux name=m ! filesink location=\(movie) \(audio) ! m.")
    let mirror = try SegmentedMirror(movie, SegmentedMirror.Settings(), Cancellation())
    #expect(mirror.renditions.map(\.name) == ["48"])
    #expect(mirror.warnings.map(\.code) == [.streamLeftOut])
    try run(pipeline: "\(audio) ! filesink location=\(folder.path("a.flac"))")
    let error = #expect(throws: RetrogradeError.self) {
      _ = try SegmentedMirror(folder.path("a.flac"), SegmentedMirror.Settings(), Cancellation())
    }
    #expect(error?.description.contains("audio at 192000 Hz") ?? false)
  }
}

extension SegmentedMirror {
  /// Returns all bytes of a segment.
  fileprivate func segment(_ number: Int, of rendition: Int, _ cancellation: Cancellation) throws -> [UInt8] {
    let bytes = Mutex<[UInt8]>([])
    try segment(number, from: 0, of: rendition, cancellation) { more in bytes.withLock { $0 += more } }
    return bytes.withLock { $0 }
  }
}
