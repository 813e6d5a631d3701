import GStreamer
import MediaTime
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Intra-only video is reversed by copying its packets.
@Suite struct PacketReversalTests {
  /// Reads the video packets in file order.
  private func packets(_ path: String) throws -> [[UInt8]] {
    let demuxers = ["mp4": "qtdemux", "mov": "qtdemux", "avi": "avidemux", "ts": "tsdemux"]
    let name = path.split(separator: ".").last.map(String.init) ?? ""
    return try DecodedMedia.buffers(
      of:
        "filesrc location=\(path) ! \(demuxers[name] ?? "matroskademux") name=d d.\(name == "ts" ? "" : "video_0") ! queue"
    )
  }

  private func media(_ video: String, _ muxer: String, _ name: String) -> TestMedia {
    var media = TestMedia()
    media.times = TestMedia.regular(12, rate: 25)
    media.frameRate = "25/1"
    (media.video, media.muxer, media.name) = (video, muxer, name)
    return media
  }

  static let h264 = "x264enc key-int-max=1 pass=qual quantizer=18 ! h264parse"

  static let sources: [(String, String, String)] = [
    ("video/x-raw,format=I420 ! jpegenc", "avimux", "s.avi"),
    ("video/x-raw,format=I420 ! jpegenc", "qtmux", "s.mov"),
    ("video/x-raw,format=I420 ! jpegenc", "matroskamux", "s.mkv"),
    ("avenc_prores_ks ! capssetter caps=video/x-prores,variant=hq", "qtmux", "s.mov"),
    ("avenc_ffv1 gop-size=1", "matroskamux", "s.mkv"),
    ("avenc_huffyuv", "avimux", "s.avi"),
    ("pngenc", "qtmux", "s.mov"),
    ("video/x-raw,format=YUY2", "avimux", "s.avi"),
    ("video/x-raw,format=UYVY", "qtmux", "s.mov"),
    ("video/x-raw,format=I420", "matroskamux", "s.mkv"),
    (h264, "mp4mux", "s.mp4"),
    (h264, "matroskamux", "s.mkv"),
    ("vp9enc deadline=1 cpu-used=8 keyframe-max-dist=0", "webmmux", "s.webm"),
  ]

  @Test("the output contains the packets of the source in reverse order", arguments: sources)
  func reversedPackets(_ video: String, _ muxer: String, _ name: String) async throws {
    let folder = try TemporaryFolder()
    let source = try media(video, muxer, name).write(to: folder)
    try await expectReversed(source, folder.path("o." + (name.split(separator: ".").last ?? "")))
  }

  /// FFmpeg writes the source, because with x265enc, mp4mux got a buffer without a PTS in one of
  /// several hundred runs on a busy machine.
  @Test("HEVC packets are copied in reverse order")
  func reversedHEVC() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=0.48", "-pix_fmt", "yuv420p", "-c:v", "libx265", "-x265-params",
      "keyint=1:log-level=none", "-tag:v", "hvc1", folder.path("s.mp4"),
    ])
    try await expectReversed(folder.path("s.mp4"), folder.path("o.mp4"))
  }

  private func expectReversed(_ source: String, _ output: String) async throws {
    let summary = try await Reverser(source).reverse(to: output)
    let own = try packets(source)
    let isReversed = try packets(output) == own.reversed()
    #expect(own.count == 12 && isReversed && summary.frames == 12)
    #expect(summary.warnings.isEmpty)
  }

  @Test("frames stored top-down keep their pixel aspect ratio in Matroska")
  func topDownFrames() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc=s=64x48:d=0.4:r=10", "-c:v", "rawvideo", "-pix_fmt", "bgr24",
      folder.path("a.avi"),
    ])
    // FFmpeg writes a negative height for bgr24: the rows are stored from top to bottom.
    try await Reverser(folder.path("a.avi")).reverse(to: folder.path("m.mkv"))
    let pipeline = try Pipeline(
      "filesrc location=\(folder.path("m.mkv")) ! matroskademux ! appsink name=out sync=false")
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    let caps = try pipeline.appSink("out").pull(timeout: ClockTime(seconds: 20))?.caps
    let ratio = caps?.fraction("pixel-aspect-ratio") ?? (1, 1)
    #expect(ratio.numerator == ratio.denominator, "\(caps as Any)")
  }

  @Test("a loop contains the packets in both directions")
  func loop() async throws {
    let folder = try TemporaryFolder()
    let source = try media("video/x-raw,format=I420 ! jpegenc", "qtmux", "s.mov").write(to: folder)
    var options = ReverseOptions()
    options.playback.loop = .pingPong
    options.playback.count = 2
    options.encoding.copiesForward = true
    try await Reverser(source, options: options).reverse(to: folder.path("o.mov"))
    let own = try packets(source)
    let isReversed =
      try packets(folder.path("o.mov")) == own + own.dropLast().reversed() + own.dropFirst() + own.dropLast().reversed()
    #expect(isReversed)
  }

  @Test("a trim of copied packets is exact to the frame")
  func trim() async throws {
    let folder = try TemporaryFolder()
    let source = try media(Self.h264, "mp4mux", "s.mp4").write(to: folder)
    var options = ReverseOptions()
    options.playback.start = .frame(3)
    options.playback.end = .frame(8)
    try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    let isReversed = try packets(folder.path("o.mkv")) == packets(source)[3..<8].reversed()
    #expect(isReversed)
  }

  @Test("audio and frame times are reversed with the packets")
  func audioAndTimes() async throws {
    let folder = try TemporaryFolder()
    var media = media("video/x-raw,format=I420 ! jpegenc quality=100", "matroskamux", "s.mkv")
    media.frameRate = "0/1"
    media.times = [0, 40, 60, 200, 240, 500].map { ClockTime(nanoseconds: $0 * 1_000_000) }
    media.sampleCount = 24_000
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.output.isVerified = true
    try await Reverser(source, options: options).reverse(to: folder.path("o.mkv"))
    let read = try DecodedMedia(folder.path("o.mkv"), like: media)
    #expect(read.numbers == [4, 3, 2, 1, 0])
    #expect(read.times.map { $0.nanoseconds / 1_000_000 } == [0, 260, 300, 440, 460])
  }

  /// Returns the containers into which the packets can be copied in reverse order, and the reason
  /// if there is no such container.
  private func packetSupport(_ media: TestMedia, _ folder: TemporaryFolder) async throws -> ([String], String?) {
    let stream = try #require(try await Reverser(media.write(to: folder)).plan().streams.first)
    return (try #require(stream.turnsAsPacketsIn), stream.whyDecoded)
  }

  @Test(
    "the plan gives the reason why packets can't be reversed",
    arguments: [
      ("avenc_ffv1 gop-size=6", "matroskamux", "s.mkv", "depend on others"),
      ("x264enc key-int-max=6 bframes=0 ! h264parse", "mp4mux", "s.mp4", "depend on others"),
      (
        "interlace field-pattern=1:1 top-field-first=true ! x264enc key-int-max=1 interlaced=true ! h264parse",
        "matroskamux", "s.mkv", "interlaced"
      ),
      ("theoraenc keyframe-force=1", "oggmux", "s.ogg", "not known"),
    ])
  func whyDecoded(
    _ video: String, _ muxer: String, _ name: String, _ why: String
  ) async throws {
    let (containers, reason) = try await packetSupport(media(video, muxer, name), try TemporaryFolder())
    #expect(containers.isEmpty && reason?.contains(why) == true, "\(reason ?? "")")
  }

  @Test("video is decoded, not copied, if an option changes its frames")
  func decodingOptions() async throws {
    let folder = try TemporaryFolder()
    let media = media("video/x-raw,format=I420 ! jpegenc", "qtmux", "s.mov")
    let source = try media.write(to: folder)
    let own = try packets(source)
    let asking: [(inout EncodingOptions) -> Void] = [
      { $0.reencodes = true }, { $0.width = 64 }, { $0.constantRateFactor = 30 }, { $0.videoCodec = "h264" },
      { $0.deinterlaces = true },
    ]
    for (number, ask) in asking.enumerated() {
      var options = ReverseOptions()
      ask(&options.encoding)
      let output = folder.path("\(number).mov")
      try await Reverser(source, options: options).reverse(to: output)
      let isReversed = try packets(output) == own.reversed()
      #expect(!isReversed, "\(number)")
    }
    var drawn = Reverser(source)
    drawn.overlay = { _, _ in }
    try await drawn.reverse(to: folder.path("drawn.mov"))
    #expect(try packets(folder.path("drawn.mov")) != own.reversed())
  }

  @Test("copied packets keep their orientation")
  func orientation() async throws {
    let folder = try TemporaryFolder()
    var media = media("video/x-raw,format=I420 ! jpegenc", "qtmux", "s.mov")
    media.orientation = "rotate-90"
    let source = try media.write(to: folder)
    let own = try packets(source)
    try await Reverser(source).reverse(to: folder.path("o.mov"))
    #expect(try packets(folder.path("o.mov")) == own.reversed())
    #expect(try await Reverser(folder.path("o.mov")).plan().streams.first?.orientation == "rotate-90")
    // AVI can't store an orientation, so the frames are rotated.
    try await Reverser(source).reverse(to: folder.path("o.avi"))
    let (width, height) = (media.width, media.height)
    let upright = try await Reverser(folder.path("o.avi")).plan().streams.first
    #expect(upright?.summary.first == "\(height)x\(width)")
  }

  @Test("H.264 packets are converted between container formats")
  func bitstreamFormats() async throws {
    let folder = try TemporaryFolder()
    let media = media(Self.h264, "mp4mux", "s.mp4")
    let source = try media.write(to: folder)
    for name in ["o.ts", "o.avi", "o.mkv"] {
      let output = folder.path(name)
      try await Reverser(source).reverse(to: output)
      #expect(try DecodedMedia(output, like: media).numbers == (0..<12).reversed(), "\(name)")
      let back = folder.path("back-\(name).mp4")
      try await Reverser(output).reverse(to: back)
      let read = try DecodedMedia(back, like: media).numbers
      #expect(read == Array(0..<12), "\(name)")
    }
  }
}
