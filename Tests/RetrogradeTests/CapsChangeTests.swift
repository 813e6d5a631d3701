import Foundation
import GStreamer
import TestSupport
import Testing

@testable import Retrograde

/// Frames whose size, pixel aspect ratio or colorimetry changes mid-stream become one stream.
@Suite struct CapsChangeTests {
  /// Elements that follow the raw frames, for each codec. matroskamux refuses changed caps.
  /// Therefore, the caps are fixed, or the headers are in the stream instead of the caps.
  private static let codecs = [
    "vp8": "vp8enc deadline=1 keyframe-max-dist=8 ! \(fixed("video/x-vp8"))",
    "vp9": "vp9enc deadline=1 cpu-used=8 keyframe-max-dist=8 lag-in-frames=0 ! \(fixed("video/x-vp9"))",
    "mjpeg": "jpegenc ! \(fixed("image/jpeg"))",
    "h264":
      "h264parse ! video/x-h264,stream-format=avc3 ! capssetter caps=\"video/x-h264,colorimetry=(string)bt709\"",
    "h265":
      "x265enc key-int-max=8 ! video/x-h265,stream-format=byte-stream ! h265parse ! video/x-h265,stream-format=hev1",
  ]

  /// Encoders that need a separate instance for each half of the frames, because x264enc ignored
  /// changed colorimetry before 1.24 (d0d40c7845).
  private static let halves = ["h264": "x264enc key-int-max=8 ! video/x-h264,stream-format=byte-stream !"]

  private static func fixed(_ codec: String) -> String {
    "capssetter replace=true caps=\"\(codec),width=96,height=64,framerate=(fraction)25/1\""
  }

  private static let changes = [
    "size": ("width=96,height=64", "width=64,height=96"),
    "chroma site": ("width=96,height=64,chroma-site=mpeg2", "width=96,height=64"),
    "colorimetry": ("width=96,height=64,colorimetry=bt709", "width=96,height=64,colorimetry=bt601,chroma-site=jpeg"),
    "pixel aspect ratio": (
      "width=96,height=64,pixel-aspect-ratio=1/1", "width=96,height=64,pixel-aspect-ratio=2/1"
    ),
  ]

  @Test(
    "frames that change mid-stream can be written to every container",
    arguments: ["vp8", "vp9", "mjpeg", "h264", "h265"], ["size", "chroma site", "colorimetry", "pixel aspect ratio"])
  func changedFrames(codec: String, change: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("source.mkv")
    let (first, second) = try #require(CapsChangeTests.changes[change])
    let encoder = try #require(CapsChangeTests.codecs[codec])
    let half = CapsChangeTests.halves[codec] ?? ""
    let pipeline = try Pipeline(
      "concat name=c ! \(encoder) ! matroskamux ! filesink location=\(source) "
        + "videotestsrc num-buffers=12 ! video/x-raw,format=I420,framerate=25/1,\(first) ! \(half) c. "
        + "videotestsrc num-buffers=12 ! video/x-raw,format=I420,framerate=25/1,\(second) ! \(half) c.")
    pipeline.set(.playing)
    guard case .endOfStream = pipeline.nextMessage(timeout: ClockTime(seconds: 60)) else {
      Issue.record("no source can be made")
      return
    }
    pipeline.set(.null)
    let count = try DecodedMedia.buffers(of: "filesrc location=\(source) ! decodebin ! video/x-raw").count
    for container in ["mp4", "mov", "mkv", "webm", "avi", "ts"] {
      let mirror = folder.path("mirror.\(container)")
      let summary = try await Reverser(source).reverse(to: mirror)
      #expect(summary.frames == count, "\(container)")
      #expect(summary.warnings.allSatisfy { [.converted, .timesRepaired].contains($0.code) }, "\(summary.warnings)")
      let written = try DecodedMedia.buffers(of: "filesrc location=\(mirror) ! decodebin ! video/x-raw")
      #expect(written.count == count, "\(container)")
      #expect(Set(written.map(\.count)).count == 1, "one size")
    }
  }

  @Test("MJPEG frames get the first size, with a warning", arguments: ["mkv", "avi", "mov"])
  func jpegSizes(container: String) async throws {
    let folder = try TemporaryFolder()
    for size in ["192x108", "128x96"] {
      _ = try FFmpeg.bytes([
        "-f", "lavfi", "-i", "testsrc2=s=\(size):r=25:d=0.2", "-c:v", "mjpeg", folder.path("\(size).mkv"),
      ])
    }
    let list = folder.path("list.txt")
    try Data("file '192x108.mkv'\nfile '128x96.mkv'\n".utf8).write(to: URL(fileURLWithPath: list))
    let source = folder.path("s.\(container)")
    _ = try FFmpeg.bytes(["-f", "concat", "-safe", "0", "-i", list, "-c", "copy", source])
    let mirror = folder.path("m.mkv")
    let warnings = try await Reverser(source).reverse(to: mirror).warnings
    #expect(warnings.contains { $0.message.contains("from 192x108 I420 to 128x96 I420") }, "\(warnings)")
    let frames = try FFmpeg.bytes(["-i", mirror, "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo", "-"])
    #expect(frames.count == 10 * 192 * 108)
  }

  /// Writes a raw H.264 stream whose halves declare different caps. Returns its path.
  private func h264(_ first: String, _ second: String, in folder: TemporaryFolder) throws -> String {
    var bytes: [UInt8] = []
    for caps in [first, second] {
      bytes += try DecodedMedia.buffers(
        of:
          "videotestsrc num-buffers=12 pattern=red ! video/x-raw,format=I420,width=96,height=64,framerate=25/1,\(caps) ! "
          + "x264enc bframes=0 pass=qual quantizer=1 ! video/x-h264,stream-format=byte-stream"
      ).joined()
    }
    let path = folder.path("source.h264")
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("changed colorimetry is converted and reported", arguments: Loop.allCases)
  func changedColorimetry(_ loop: Loop) async throws {
    let folder = try TemporaryFolder()
    let source = try h264("colorimetry=bt709", "colorimetry=bt601", in: folder)
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.playback.loop = loop
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    let warning = try #require(summary.warnings.first { $0.code == .converted })
    #expect(summary.warnings.count { $0.code == .converted } == 1, "\(summary.warnings)")
    #expect(warning.count == 12)
    #expect(warning.message.contains("from bt709 to bt601"))
    let span = try #require(warning.span)
    #expect(abs(span.start.seconds - 0.48) < 0.01 && abs(span.end.seconds - 0.92) < 0.01, "\(span)")
    // All frames have the same red, so a missing conversion would change the pixels.
    let frames = try DecodedMedia.buffers(of: "filesrc location=\(folder.path("m.mkv")) ! matroskademux ! avdec_ffv1")
    #expect(frames.count == summary.frames)
    let first = try #require(frames.first)
    for frame in frames {
      #expect(zip(frame, first).allSatisfy { abs(Int($0) - Int($1)) <= 3 })
    }
    options.output.isStrict = true
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: folder.path("n.mkv"))
    }
    #expect(error?.code == .damagedInput)
    #expect(folder.names == ["m.mkv", "source.h264"])
  }

  @Test("interlaced frames are fitted to progressive frames of another size")
  func interlacedFrames() throws {
    let fields = "video/x-raw,format=Y42B,width=128,height=96,framerate=25/1,interlace-mode=interleaved"
    let caps = try #require(Caps(fields + ",field-order=top-field-first"))
    let bytes = try #require(
      try DecodedMedia.buffers(of: "videotestsrc num-buffers=1 ! video/x-raw,format=Y42B,width=128,height=96").first)
    let buffer = try Buffer(size: bytes.count) { $0.copyBytes(from: bytes) }
    let whole = try #require(
      Caps("video/x-raw,format=I420,width=96,height=64,framerate=30/1,interlace-mode=progressive"))
    let fitted = try #require(try Sample(buffer: buffer, caps: caps).fitted(to: whole))
    #expect(fitted.buffer.size == 96 * 64 * 3 / 2)
    #expect(fitted.caps?.isEqual(whole) ?? false)
  }

  @Test("a changed pixel aspect ratio keeps the pixels and is reported")
  func changedPixelAspectRatio() async throws {
    let folder = try TemporaryFolder()
    let source = try h264("pixel-aspect-ratio=1/1", "pixel-aspect-ratio=2/1", in: folder)
    let summary = try await Reverser(source).reverse(to: folder.path("m.mp4"))
    #expect(summary.frames == 24)
    #expect(summary.warnings.map(\.code) == [.converted], "\(summary.warnings)")
    #expect(summary.warnings.first?.count == 12 && summary.warnings.first?.span != nil)
    #expect(summary.warnings.first?.message.contains("from 1:1 to 2:1") ?? false)
  }

  @Test("no frame is lost if the caps change to another frame rate", arguments: ["mp4", "mkv"])
  func changedFrameRate(container: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times =
      (0...30).map { ClockTime(nanoseconds: 40_000_000 * Int64($0)) }
      + (1...30).map {
        ClockTime(nanoseconds: 1_200_000_000 + 20_000_000 * Int64($0))
      }
    // The caps at the encoder declare 25 fps, and then 50.
    let file = try PipelineFile(
      """
      filesrc location=\(try media.write(to: folder)) ! matroskademux ! h264parse ! avdec_h264 ! videoconvert ! appsink name=video
      ---
      appsrc name=video ! videoconvert ! x264enc ! h264parse ! \(container == "mp4" ? "mp4mux" : "matroskamux") ! filesink location=\(folder.path("m.\(container)"))
      """, name: "f")
    let summary = try await file.start([:]).summary()
    #expect(summary.frames == 60 && summary.warnings.isEmpty)
    let mirror = try DecodedMedia(folder.path("m.\(container)"), like: media)
    #expect(mirror.numbers == (0..<60).reversed())
  }

  @Test("VP9 without a chroma site can be written to MP4 and MOV", arguments: ["mp4", "mov"])
  func vp9WithoutChromaSite(container: String) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.video =
      "videoconvert ! vp9enc deadline=1 cpu-used=8 ! capssetter replace=true caps=\"video/x-vp9,width=96,height=64\""
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    options.encoding.videoCodec = "vp9"
    options.encoding.quality = .high
    let mirror = folder.path("mirror.\(container)")
    let summary = try await Reverser(source, options: options).reverse(to: mirror)
    #expect(summary.frames == 60)
    let shown = try DecodedMedia(source, like: media).numbers
    #expect(try DecodedMedia(mirror, like: media).numbers == shown.reversed())
  }
}
