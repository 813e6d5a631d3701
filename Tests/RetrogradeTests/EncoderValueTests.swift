import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Values that an encoder does not accept are refused before anything is written. Most messages
/// give the valid values.
@Suite struct EncoderValueTests {
  struct Refusal: Sendable, CustomTestStringConvertible {
    var output: String
    /// Text that the message must contain.
    var words: String
    var change: @Sendable (inout EncodingOptions) -> Void
    var testDescription: String { "\(output): \(words)" }
  }

  static let refusals = [
    Refusal(output: "o.mp4", words: "`encoding.constantRateFactor` 99: x264enc accepts 0 to 50") {
      $0.constantRateFactor = 99
    },
    Refusal(output: "o.webm", words: "`encoding.constantRateFactor` 99: vp9enc accepts 0 to 63") {
      $0.constantRateFactor = 99
    },
    Refusal(output: "o.mkv", words: "`encoding.constantRateFactor` 64: av1enc accepts 0 to 63") {
      $0.videoCodec = "av1"
      $0.constantRateFactor = 64
    },
    Refusal(output: "o.mp4", words: "x265enc accepts -1 to 51") {
      $0.videoCodec = "hevc"
      $0.constantRateFactor = 52
    },
    Refusal(output: "o.mkv", words: "`encoding.bitrate`: x265enc accepts 1000 to 102400000") {
      $0.videoCodec = "hevc"
      $0.bitrate = 102_401_000
    },
    Refusal(output: "o.mp4", words: "`encoding.bitrate`: x264enc accepts 1000 to 2048000000") {
      $0.bitrate = 3_000_000_000
    },
    Refusal(output: "o.mp4", words: "ultrafast, superfast") { $0.preset = "nonsense" },
    Refusal(output: "o.webm", words: "`encoding.preset` nonsense: vp9enc accepts -16 to 16") { $0.preset = "nonsense" },
    Refusal(output: "o.mov", words: "`encoding.preset` can't be used with avenc_prores") {
      $0.videoCodec = "prores"
      $0.preset = "fast"
    },
    Refusal(output: "o.gif", words: "`encoding.constantRateFactor` can't be used for animations") {
      $0.constantRateFactor = 3
    },
    Refusal(output: "o.mp4", words: "`encoding.profile` nonsense") { $0.profile = "nonsense" },
    Refusal(output: "o.mp4", words: "`encoding.constantRateFactor` can't be used with `encoding.profile`") {
      $0.profile = "youtube"
      $0.constantRateFactor = 20
    },
    Refusal(output: "o.mp4", words: "property 'quantizer'") {
      $0.profile = "video/quicktime,variant=iso:video/x-h264|element-properties,quantizer=99"
    },
    Refusal(output: "o.mp4", words: "H.264 video of 4x2 pixels") { $0.width = 4 },
  ]

  @Test("a value that an encoder does not accept is refused", arguments: refusals)
  func invalidValues(refusal: Refusal) async throws {
    let folder = try TemporaryFolder()
    var media = TestMedia.matroska
    media.times = TestMedia.regular(5, rate: 25)
    let source = try media.write(to: folder)
    var options = ReverseOptions()
    refusal.change(&options.encoding)
    let output = refusal.words.contains(refusal.output) ? refusal.output : folder.path(refusal.output)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: output)
    }
    #expect(error?.code == .usage)
    #expect(error?.message.contains(refusal.words) ?? false, "\(error?.message ?? "")")
    #expect(folder.names == [media.name])
  }

  @Test("an invalid property in a pipeline file is reported with its line and column")
  func pipelineFilePosition() async throws {
    let file = try PipelineFile(
      "videotestsrc ! appsink name=v\n---\nappsrc name=v ! x264enc quantizer=99 ! fakesink", name: "f")
    let error = await #expect(throws: RetrogradeError.self) { try await file.check([:]) }
    #expect(error?.code == .usage)
    #expect(error?.message.hasPrefix("f:3:35: ") ?? false, "\(error?.message ?? "")")
  }

  @Test("an element refuses invalid property values")
  func elementProperties() throws {
    let element = try #require(Element(factory: "x264enc"))
    try element.set("quantizer", "50")
    #expect(element.integer("quantizer") == 50)
    for (name, value) in [("quantizer", "51"), ("quantizer", "x"), ("speed-preset", "x"), ("nosuch", "1")] {
      let error = #expect(throws: GStreamerError.self) { try element.set(name, value) }
      #expect(error?.kind == .refusedValue)
    }
    #expect(element.integer("quantizer") == 50)
  }

  /// The default bit rate of very large video exceeds x265enc's maximum.
  @Test("a default bit rate is limited to the encoder's maximum")
  func limitedBitrate() throws {
    let raw = try #require(Caps("video/x-raw,format=I420,width=7680,height=4320,framerate=60/1"))
    let settings = try EncoderSettings(options: EncodingOptions(), sourceBitrate: nil, frameRate: 60)
      .video("x265enc", raw)
    #expect(settings.first { $0.name == "bitrate" }?.value == "102400")
  }

  /// With the extra settings, the SSIM of the preset `superfast` is within 0.003 of the SSIM of
  /// `medium` (docs/quality.md).
  @Test("x264 gets extra settings unless a preset or quality is chosen")
  func x264Additions() throws {
    let raw = try #require(Caps("video/x-raw,format=I420,width=1280,height=720,framerate=25/1"))
    func settings(_ options: EncodingOptions) throws -> Set<String> {
      let all = try EncoderSettings(options: options, sourceBitrate: 2_000_000, frameRate: 25).video("x264enc", raw)
      return Set(all.map { "\($0.name)=\($0.value)" })
    }
    let additions: Set = ["mb-tree=true", "rc-lookahead=20", "subme=2", "trellis=true"]
    #expect(try settings(EncodingOptions()).isSuperset(of: additions))
    for options in [
      EncodingOptions(preset: "veryfast"), EncodingOptions(quality: .high), EncodingOptions(quality: .lossless),
    ] {
      #expect(try settings(options).isDisjoint(with: additions))
    }
  }

  @Test("the bit rate of six-channel Opus is limited to the encoder's maximum")
  func surroundOpus() {
    let settings = EncoderSettings(options: EncodingOptions(quality: .high), sourceBitrate: nil, frameRate: 0)
      .audio("opusenc", rate: 48_000, channels: 6)
    #expect(settings.first { $0.name == "bitrate" }?.value == "650000")
  }

  /// FFmpeg refuses FFV1 frames whose slices are too large, so large frames need more slices.
  @Test(
    "FFV1 can encode very large frames",
    arguments: [
      "3840,height=2160,format=GBRA_12LE", "7680,height=4320,format=Y444", "8192,height=8192,format=GRAY8",
    ])
  func largeLosslessVideo(size: String) throws {
    let raw = "video/x-raw,framerate=25/1,width=\(size)"
    let caps = try #require(Caps(raw))
    let settings = try EncoderSettings(options: EncodingOptions(), sourceBitrate: nil, frameRate: 25)
      .video("avenc_ffv1", caps).map { " \($0.name)=\($0.value)" }.joined()
    #expect(!settings.isEmpty)
    #expect(try DecodedMedia.buffers(of: "videotestsrc num-buffers=1 ! \(raw) ! avenc_ffv1\(settings)").count == 1)
  }

  @Test(
    "a frame of any size is reversed or refused", arguments: [1, 3, 15, 33],
    ["mp4", "mov", "mkv", "webm", "avi", "ts", "ogv", "gif", "webp", "apng"])
  func smallFrames(side: Int, container: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("s.mkv")
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=4 ! video/x-raw,format=Y444,width=\(side),height=\(side),framerate=25/1 ! avenc_ffv1 ! "
        + "matroskamux ! filesink location=\(source)")
    pipeline.set(.playing)
    guard case .endOfStream = pipeline.nextMessage(timeout: ClockTime(seconds: 30)) else {
      Issue.record("no source")
      return
    }
    pipeline.set(.null)
    do {
      let summary = try await Reverser(source).reverse(to: folder.path("o.\(container)"))
      #expect(summary.frames == 4)
      // Theora can't store the declared colours.
      #expect(summary.warnings.map(\.code) == (container == "ogv" ? [.detailLeftOut] : []))
    } catch let error as RetrogradeError {
      #expect(error.code == .usage)
      #expect(error.message.contains("`encoding.width`"), "\(error.message)")
      #expect(side < 16)
    }
  }

  @Test("a slide show in VP8 keeps all its frames")
  func slideShow() async throws {
    let folder = try TemporaryFolder()
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=96x64:r=1/10:d=200", "-c:v", "libvpx", folder.path("s.webm")])
    try await Reverser(folder.path("s.webm")).reverse(to: folder.path("m.webm"))
    #expect(try FFmpeg.frames(folder.path("m.webm")).count == 20)
  }
}
