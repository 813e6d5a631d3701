import Containers
import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Packets that GStreamer's demuxers would drop or misplace without a workaround.
@Suite struct DemuxerTests {
  private func lossless() -> ReverseOptions {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    return options
  }

  private func transportStream(frames: Int) -> TestMedia {
    var media = TestMedia()
    media.times = TestMedia.regular(frames, rate: 30)
    (media.name, media.video, media.muxer) = ("s.ts", ReverseCase.x264, "mpegtsmux")
    return media
  }

  /// Editable header of an MP4 file.
  private struct Header {
    private let path: String
    private(set) var bytes: [UInt8]

    init(_ path: String) throws {
      self.path = path
      bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// Returns the offset of the body of the last box of a type. In a header, the type's name
    /// occurs only in boxes of this type.
    func box(_ type: String) throws -> Int {
      try #require(Data(bytes).range(of: Data(type.utf8), options: .backwards)?.upperBound)
    }

    mutating func set(_ value: Int, at offset: Int) { bytes.set(value, at: offset) }
    func integer(_ offset: Int) -> Int { bytes.integer(offset) }

    mutating func rename(_ type: String, to other: String) throws {
      let place = try box(type)
      bytes.replaceSubrange(place - 4..<place, with: Array(other.utf8))
    }

    func write() throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
  }

  /// Android's MediaMuxer writes files in which the header's duration does not include the last
  /// packet.
  @Test("the last frame is kept if the header's duration does not include it")
  func uncountedLastFrame() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "x264enc key-int-max=20 bframes=0 pass=qual quantizer=18 ! h264parse"
    let source = try media.write(to: folder)
    var header = try Header(source)
    try header.rename("edts", to: "free")
    let step = try header.integer(header.box("stts") + 12)
    let duration = try header.box("mdhd") + 16
    header.set(header.integer(duration) - step, at: duration)
    let whole = try header.box("mvhd")
    header.set(header.integer(whole + 12) * (media.frameCount - 1) / 30, at: whole + 16)
    try header.write()
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<media.frameCount).reversed())
  }

  @Test("Y4M that GStreamer can't read is refused as unsupported", arguments: ["yuv420p10le", "yuv411p", "gray"])
  func unusualY4M(_ format: String) async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=10:d=0.5", "-pix_fmt", format, "-strict", "-1", folder.path("s.y4m")])
    do {
      let summary = try await Reverser(folder.path("s.y4m")).reverse(to: folder.path("m.mkv"))
      #expect(!Quirk.y4mdecDepth.applies && summary.frames == 5 && summary.warnings.isEmpty)
    } catch let error as RetrogradeError {
      #expect(Quirk.y4mdecDepth.applies && error.code == .missingPlugin, "\(error.message)")
    }
  }

  @Test(
    "raw video in NUT that GStreamer can't read is refused as unsupported", arguments: ["rgba", "nv12", "gbrp10le"])
  func rawNUT(_ format: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.nut")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=1", "-c:v", "rawvideo", "-pix_fmt", format, path])
    let error = await #expect(throws: RetrogradeError.self) { _ = try await Reverser(path).plan() }
    #expect(error?.code == .missingPlugin, "\(error as Any)")
  }

  @Test(
    "codec tags of raw video in NUT are told apart from those of other codecs",
    arguments: [
      ("rawvideo", "rgb24", nil), ("rawvideo", "yuva420p", nil), ("rawvideo", "pal8", nil), ("mpeg4", "yuv420p", nil),
      ("rawvideo", "gbrp", "G3[0][8]"), ("rawvideo", "rgba", "RGBA"),
    ] as [(String, String, String?)])
  func rawNUTTags(_ codec: String, _ format: String, _ tag: String?) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("s.nut")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=0.3", "-c:v", codec, "-pix_fmt", format, path])
    #expect(ContainerFacts(path).unreadNUTVideo == tag)
  }

  /// No edit compensates for the B-frame delay, so the start and the end of the video are late by
  /// the same time.
  @Test("an MP4 with B-frames and without an edit list keeps its last frames")
  func framesWithoutAnEditList() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video =
      "x264enc key-int-max=20 bframes=2 b-adapt=false b-pyramid=false option-string=scenecut=0 pass=qual quantizer=18 ! "
      + "h264parse"
    let source = try media.write(to: folder)
    var header = try Header(source)
    try header.rename("edts", to: "free")
    try header.write()
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<media.frameCount).reversed())
  }

  /// Phones and QuickTime write negative composition offsets, so a frame that is shown before the
  /// end of the edit may be decoded after that end.
  @Test("an edit ends by presentation time, not by decode time")
  func editEnd() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video =
      "x264enc key-int-max=20 bframes=2 b-adapt=false b-pyramid=false option-string=scenecut=0 pass=qual quantizer=18 ! "
      + "h264parse"
    let source = try media.write(to: folder)
    var header = try Header(source)
    let offsets = try header.box("ctts")
    let step = try header.integer(header.box("stts") + 12)
    header.set(1 << 24, at: offsets)
    for entry in 0..<header.integer(offsets + 4) {
      let place = offsets + 12 + 8 * entry
      header.set(header.integer(place) - step, at: place)
    }
    let shown = 57
    let edits = try header.box("elst")
    let timescale = try header.integer(header.box("mvhd") + 12)
    header.set(timescale * shown / 30, at: edits + 8)
    header.set(0, at: edits + 12)
    try header.write()
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<shown).reversed())
  }

  /// The first packet is a video packet. Its DTS is before the start of the audio, and its PTS is
  /// after the start of the audio.
  @Test("audio before the first frame of FLV is kept")
  func earlyAudioInFLV() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(60, rate: 30).map { $0 + ClockTime(nanoseconds: 100_000_000) }
    media.video = "x264enc key-int-max=20 bframes=2 b-adapt=false pass=qual quantizer=18 ! h264parse"
    media.frameRate = "30/1"
    media.rate = 44_100
    media.audioStart = ClockTime(nanoseconds: 50_000_000)
    media.sampleCount = 66_150
    media.audio = "identity"
    media.muxer = "flvmux"
    media.name = "s.flv"
    let source = try media.write(to: folder)
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
    #expect(mirror.audio.count == media.sampleCount * media.channels * 8)
  }

  /// FFmpeg writes JPEG 2000 with subsampled chroma into MOV. The codestream does not tell whether
  /// it contains YUV or RGB, and openjpegdec refuses subsampled chroma.
  @Test("JPEG 2000 with subsampled chroma is decoded")
  func subsampledJPEG2000() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(12, rate: 30)
    media.frameRate = "30/1"
    media.video =
      "video/x-raw,format=I420 ! avenc_jpeg2000 ! capssetter caps=\"image/x-j2c,colorspace=(string)sRGB,fields=(int)1\""
    (media.name, media.muxer) = ("s.mj2", "mj2mux")
    let source = try media.write(to: folder)
    var options = lossless()
    options.encoding.reencodes = true
    try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
  }

  /// openjpegdec outputs four components for RGB, and treats YUV as RGB.
  @Test(
    "JPEG 2000 is decoded to its own pixel format", arguments: ["I420", "Y42B", "Y444", "RGB", "GRAY8", "GRAY16_LE"])
  func jpeg2000Formats(_ format: String) throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.times = TestMedia.regular(3, rate: 30)
    (media.frameRate, media.sampleCount) = ("30/1", 0)
    media.video =
      "videoconvert ! video/x-raw,format=\(format) ! avenc_jpeg2000 ! capssetter caps=\"image/x-j2c,colorspace=(string)sRGB,fields=(int)1\""
    (media.name, media.muxer) = ("s.mj2", "mj2mux")
    let path = try media.write(to: folder)
    let settings = PlaybackSettings(PlaybackOptions(), count: 1, resources: Resources(), cancellation: Cancellation())
    let source = try PlayableSource(try OpenedSource(path, settings), settings) { _ in }
    #expect(source.video?.caps.string("format") == format)
    // AVI can't declare whether JPEG 2000 is RGB.
    #expect(
      source.video.map { PacketOutput.containers(for: $0.video, ReverseOptions()).0 }
        == (["Y444", "RGB"].contains(format) ? [] : ["avi"]))
  }

  /// tsdemux treats three seconds without a PCR as a discontinuity.
  @Test("transport stream packets keep their own timestamps across a gap in the PCR")
  func missingPCR() async throws {
    let folder = try TemporaryFolder()
    let media = transportStream(frames: 150)
    let source = try media.write(to: folder)
    let original = try DecodedMedia(source, like: media)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: source)))
    var count = 0
    for packet in stride(from: 0, to: bytes.count, by: 188)
    where bytes[packet + 3] & 0x20 != 0 && bytes[packet + 4] > 6 && bytes[packet + 5] & 0x10 != 0 {
      count += 1
      // Removes the PCR of three of the five seconds.
      if (5..<50).contains(count) { bytes[packet + 5] &= ~0x10 }
    }
    #expect(count > 60, "the generated source has clock references")
    try Data(bytes).write(to: URL(fileURLWithPath: source))
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == original.numbers.reversed())
    let end = try #require(original.times.last)
    let expected = original.times.reversed().map { end - $0 }
    #expect(zip(mirror.times, expected).allSatisfy { abs(($0 - $1).seconds) < 0.0015 })
  }

  /// PCR and timestamps start again in the second file. They jump back by the length of the first
  /// file, which is less than a second.
  @Test("concatenated transport streams last as long as both files together")
  func concatenatedTS() async throws {
    let folder = try TemporaryFolder()
    let media = transportStream(frames: 28)
    let source = try media.write(to: folder)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: source))
    try (bytes + bytes).write(to: URL(fileURLWithPath: source))
    let summary = try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == (0..<28).reversed() + (0..<28).reversed())
    #expect(abs(summary.duration.seconds - 56.0 / 30) < 0.1, "\(summary.duration)")
  }

  /// mpegpsdemux starts its GStreamer segment at the first timestamp that it finds, usually that of
  /// the video, and clips earlier audio.
  @Test("a program stream is reversed from its first packet")
  func programStream() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    (media.width, media.height) = (320, 240)
    media.video = "x264enc key-int-max=10 bframes=2 pass=qual quantizer=1 ! h264parse"
    media.sampleCount = 96_000
    media.audio = "avenc_mp2 bitrate=384000 ! mpegaudioparse"
    media.muxer = "mpegpsmux"
    media.name = "s.mpg"
    let source = try media.write(to: folder)
    let summary = try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<media.frameCount).reversed())
    // The encoder writes only whole packets of 1,152 samples, and drops the incomplete packet at
    // the end.
    #expect(try #require(summary.samples.first) >= media.sampleCount - 1_152)
  }

  /// mpegpsdemux adds no pad for the stream that starts late.
  @Test("audio that begins in the second of two program streams is reported")
  func lateAudioInProgramStream() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.video = "mpeg2enc ! mpegvideoparse"
    media.frameRate = "30/1"
    media.audio = "avenc_mp2 ! mpegaudioparse"
    media.muxer = "mpegpsmux"
    media.name = "s.mpg"
    let silent = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    media.sampleCount = 96_000
    let both = try Data(contentsOf: URL(fileURLWithPath: media.write(to: folder)))
    // mpegpsdemux searches for more streams only in the first bytes.
    let first = Data((0..<500_000 / silent.count + 1).map { _ in silent }.joined())
    try (first + both).write(to: URL(fileURLWithPath: folder.path("both.mpg")))
    func leftOut(_ name: String) async throws -> [Warning] {
      try await Reverser(folder.path(name)).plan().warnings.filter { $0.code == .streamLeftOut }
    }
    let warnings = try await leftOut("both.mpg")
    #expect(warnings.map(\.count) == [1], "\(silent.count) and \(both.count) bytes: \(warnings)")
    #expect(try await leftOut("s.mpg").isEmpty)
  }

  /// x265 needs a frame rate, even for frames at a variable rate.
  @Test("HEVC can encode a variable frame rate")
  func variableRateHEVC() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.width = 192
    media.height = 128
    media.times = (0...40).map { ClockTime(nanoseconds: Int64($0 * 30 + $0 * $0 % 7) * 1_000_000) }
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.videoCodec = "hevc"
    try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    let original = try DecodedMedia(source, like: media)
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
    let (end, start) = (try #require(original.times.last), try #require(mirror.times.dropFirst().first))
    let expected = original.times.dropFirst().reversed().map { end - $0 + start }
    #expect(zip(mirror.times.dropFirst(), expected).allSatisfy { abs(($0 - $1).seconds) < 0.0015 })
  }

  @Test("AVI refuses a variable frame rate, and the message says what to do")
  func variableRateAVI() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = (0...40).map { ClockTime(nanoseconds: Int64($0 * 30 + $0 * $0 % 7) * 1_000_000) }
    let source = try media.write(to: folder)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source).reverse(to: folder.path("m.avi"))
    }
    #expect(error?.code == .usage)
    #expect(error?.message.contains("`playback.frameRate` 33") ?? false)
    var options = ReverseOptions()
    options.playback.frameRate = FrameRate(30, 1)
    try await Reverser(source, options: options).reverse(to: folder.path("m.avi"))
  }

  /// qtdemux 1.22 reports a corrupt file before it exposes the readable tracks.
  @Test("a track without a sample description does not affect the other tracks")
  func undescribedTrack() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.sampleCount = 48_000
    media.audio = "audioconvert ! avenc_aac ! aacparse"
    let source = try media.write(to: folder)
    var header = try Header(source)
    // The last `stsd` box is the audio track's.
    try header.rename("stsd", to: "free")
    try header.write()
    let summary = try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    #expect(
      summary.warnings.contains { $0.code == .streamLeftOut && $0.message.contains("audio") }, "\(summary.warnings)")
    media.sampleCount = 0
    #expect(try DecodedMedia(folder.path("m.mkv"), like: media).numbers == (0..<media.frameCount).reversed())
  }

  /// XviD and DivX wrote AVI files with packed bitstreams: one packet contains a frame and its
  /// first B-frame, and a packet without a frame follows the last B-frame.
  @Test("packed B-frames in AVI keep their timestamps")
  func packedAVI() async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia()
    media.frameRate = "30/1"
    media.muxer = "avimux"
    media.name = "plain.avi"
    media.video = "avenc_mpeg4 max-bframes=2 gop-size=300 bitrate=8000000 ! mpeg4videoparse"
    let plain = try media.write(to: folder)
    let packets = try DecodedMedia.buffers(of: "filesrc location=\(plain) ! avidemux")
    let packed = packedBFrames(packets)
    #expect(packed.count == packets.count)
    let source = folder.path("packed.avi")
    try mux(
      packed, "video/mpeg,mpegversion=4,systemstream=false,width=\(media.width),height=\(media.height)", into: source)
    try await Reverser(source, options: lossless()).reverse(to: folder.path("m.mkv"))
    let mirror = try DecodedMedia(folder.path("m.mkv"), like: media)
    #expect(mirror.numbers == (0..<media.frameCount).reversed())
    #expect(zip(mirror.times, media.times).allSatisfy { abs(($0 - $1).seconds) < 0.0015 })
  }

  /// One PES packet contains several small frames. Only the first frame has a timestamp.
  @Test(
    "small frames of a program stream stay in sync",
    arguments: ["-c:v mpeg2video", "-c:v mpeg2video -bf 2", "-c:v mpeg1video"])
  func smallFrames(_ codec: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.vob")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc=s=160x120:r=25:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2"]
        + codec.split(separator: " ").map(String.init) + ["-c:a", "mp2", path])
    try await Reverser(path).reverse(to: folder.path("m.mkv"))
    let differing = try await Verifier(path, mirror: folder.path("m.mkv")).verify().checks.filter { !$0.holds }
    #expect(
      differing.filter { ["source frames", "audio 0 sync", "times"].contains($0.subject) }.isEmpty, "\(differing)")
  }

  /// Repacks MPEG-4 (ISO/IEC 14496-2) with one frame per packet into a packed bitstream.
  private func packedBFrames(_ packets: [[UInt8]]) -> [[UInt8]] {
    func place(_ code: UInt8, in packet: [UInt8]) -> Int? { Data(packet).range(of: Data([0, 0, 1, code]))?.lowerBound }
    let emptyFrame: [UInt8] = [0, 0, 1, 0xB6, 0x51, 0x40]
    var packed: [[UInt8]] = []
    var held: [UInt8]?
    for var packet in packets {
      let frame = place(0xB6, in: packet) ?? 0
      let isB = packet[frame + 4] >> 6 == 2
      if packed.isEmpty {
        // Decoders recognize a packed bitstream by the encoder's name in the user data before the
        // first frame.
        packet.replaceSubrange(
          (place(0xB2, in: packet) ?? frame)..<frame,
          with: [0, 0, 1, 0xB2] + Array("DivX503b1393p".utf8) + [0, 0, 1, 0xB2] + Array("XviD0055".utf8))
      }
      if !isB, held != nil {
        packed.append(emptyFrame)
        held = nil
      }
      if isB, held == nil, let last = packed.indices.last {
        packed[last] += packet
        held = packet
      } else {
        packed.append(packet)
      }
    }
    return packed + (held == nil ? [] : [emptyFrame])
  }

  private func mux(_ packets: [[UInt8]], _ caps: String, into path: String) throws {
    let pipeline = try Pipeline(
      "appsrc name=in format=time ! \(caps),framerate=30/1 ! avimux ! filesink location=\(path)")
    defer { pipeline.set(.null) }
    pipeline.set(.playing)
    let source = try pipeline.appSource("in")
    source.setCaps(try #require(Caps("\(caps),framerate=30/1")))
    for (number, bytes) in packets.enumerated() {
      let buffer = try Buffer(size: bytes.count) { $0.copyBytes(from: bytes) }
      buffer.stamp(pts: ClockTime(sampleIndex: number, rate: 30), duration: ClockTime(sampleIndex: 1, rate: 30))
      #expect(source.push(buffer))
    }
    source.endOfStream()
    guard case .endOfStream? = pipeline.nextMessage(timeout: ClockTime(seconds: 30)) else {
      Issue.record("no \(path)")
      return
    }
    // Clears the keyframe flag of all packets except the first.
    var file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let index = try #require(Data(file).range(of: Data("idx1".utf8), options: .backwards)?.upperBound) + 4
    for number in 1..<packets.count { file[index + 16 * number + 4] &= ~0x10 }
    try Data(file).write(to: URL(fileURLWithPath: path))
  }

  @Test("NUT is reversed, and a stream that the demuxer skips is reported", arguments: ["libmp3lame", "libvorbis"])
  func nut(_ codec: String) async throws {
    let folder = try TemporaryFolder()
    let media = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=1", "-f", "lavfi", "-i", "sine=d=1"]
    _ = try FFmpeg.bytes(media + ["-c:v", "mjpeg", "-c:a", codec, folder.path("s.nut")])
    // GStreamer 1.26 has the demuxer, but does not recognize NUT files, so they are refused.
    let start = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("s.nut"))).prefix(4096))
    guard TypeFinder.mediaType(ofFileBeginningWith: start) != nil else {
      await #expect(throws: RetrogradeError.self) {
        try await Reverser(folder.path("s.nut")).reverse(to: folder.path("m.mkv"))
      }
      return
    }
    let summary = try await Reverser(folder.path("s.nut")).reverse(to: folder.path("m.mkv"))
    #expect(try FFmpeg.frames(folder.path("m.mkv")).count == 10)
    let isLeftOut = summary.warnings.contains { $0.message.description.contains("the audio stream of the file") }
    #expect(isLeftOut == (codec == "libvorbis") && isLeftOut == summary.samples.isEmpty)
  }
}
