import Foundation
import Testing

/// Encoders chosen by name.
@Suite struct EncoderCommandTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"))
  }

  @Test("the command uses --encoder and --encoder-options")
  func encoderOptions() throws {
    let result = try Command.run([
      "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--encoder", "x264enc", "--encoder-options",
      "key-int-max=6 option-string='scenecut=0:min-keyint=6'",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let plan = try Command.run(["plan", scratch.path("b.mp4")])
    #expect(plan.output.contains("keyframes  10\n"), "\(plan.output)")
  }

  static let refusals: [(arguments: [String], status: Int32, words: String)] = [
    (["--encoder", "nosuchenc"], 69, "nosuchenc: no such GStreamer element is installed; `retrograde codecs`"),
    (["--encoder", "qtdemux"], 64, "this element is not a video encoder (Codec/Demuxer)"),
    (["--encoder", "flacenc"], 64, "this element is not a video encoder (Codec/Encoder/Audio)"),
    (["--encoder", "theoraenc"], 64, "can't hold Theora, which theoraenc encodes"),
    (["--encoder", "x264enc", "--video-codec", "hevc"], 64, "encodes H.264, but --video-codec is hevc"),
    (["--encoder", "x264enc", "--profile", "youtube"], 64, "--profile, which contains all"),
    (["--encoder-options", "nonsense=1"], 64, "x264enc has no property nonsense; `gst-inspect-1.0 x264enc`"),
    (["--encoder-options", "speed-preset=warp"], 64, "speed-preset can't be warp; it can be"),
    (["--encoder-options", "fast"], 64, "--encoder-options"),
    (["--encoder", "openh264enc", "--quality", "lossless"], 64, "openh264enc is not known to be lossless"),
    (["--encoder-options", "key-int-max=6", "--print-pipeline"], 64, "--encoder-options can't be printed"),
  ]

  @Test("an unusable encoder or option is refused before any output", arguments: refusals)
  func unusableEncoder(
    refusal: (arguments: [String], status: Int32, words: String)
  ) throws {
    let output = scratch.path("b.mp4")
    let result = try Command.run(["reverse", scratch.path("a.mp4"), output] + refusal.arguments)
    #expect(result.status == refusal.status && result.errors.contains(refusal.words), "\(result.errors)")
    #expect(!FileManager.default.fileExists(atPath: output))
  }

  /// Uses a fake encoder, because the machines that run these tests have no hardware encoder.
  @Test("a hardware encoder is listed and used")
  func hardwareEncoder() throws {
    let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Programs/fakehardware.c").path
    let built = try Command.run(
      [
        "-c",
        "cc -shared -fPIC -o '\(scratch.path("libgstfakehardware.so"))' '\(source)' $(pkg-config --cflags --libs gstreamer-1.0)",
      ], of: URL(fileURLWithPath: "/bin/sh"))
    try #require(built.status == 0, "\(built.errors)")
    let environment = ProcessInfo.processInfo.environment.merging([
      "GST_PLUGIN_PATH": scratch.path(""), "GST_REGISTRY": scratch.path("registry"),
    ]) { $1 }
    let codecs = try Command.run(["codecs"], environment: environment)
    #expect(codecs.output.contains("openh264enc, fakehwh264enc (hardware)\n"), "\(codecs.output)")
    let result = try Command.run(
      [
        "reverse", scratch.path("a.mp4"), scratch.path("b.mp4"), "--encoder", "fakehwh264enc", "--bitrate", "300k",
        "--no-audio",
      ], environment: environment)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("fakehwh264enc: 300 kbit/s"), "\(result.errors)")
    let verified = try Command.run(["verify", scratch.path("a.mp4"), scratch.path("b.mp4"), "--no-audio"])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
  }

  /// Since GStreamer 1.26, an unknown pixel format number causes a critical warning, so the engine
  /// reads the formats from GStreamer's own list.
  @Test("lossless encoding causes no critical warning")
  func losslessFormats() throws {
    let environment = ProcessInfo.processInfo.environment.merging(["G_DEBUG": "fatal-criticals"]) { $1 }
    let result = try Command.run(
      ["reverse", scratch.path("a.mp4"), scratch.path("b.mkv"), "--quality", "lossless"], environment: environment)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test("HEVC of one or two frames has correct times, despite uninitialized memory", arguments: [1, 2])
  func fewFramesOfHEVC(_ frames: Int) throws {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: frames)
    for (byte, output) in [("190", "b.mp4"), ("66", "c.mkv"), ("190", "d.mkv")] {
      let result = try Command.run(
        ["reverse", scratch.path("a.mp4"), scratch.path(output), "--video-codec", "hevc", "--no-audio", "--verify"],
        environment: ProcessInfo.processInfo.environment.merging(["MALLOC_PERTURB_": byte]) { $1 })
      #expect(result.status == 0, "\(output): \(result.errors)")
    }
  }

  /// The clip is uncompressed noise. Lossless encoding would take three times the requested bit
  /// rate, so the size shows whether the encoder follows the option.
  @Test("the bit rate of the output is roughly that of --bitrate", arguments: ["h264", "hevc", "vp8", "vp9", "av1"])
  func bitrate(codec: String) throws {
    let (clip, mirror) = (scratch.path("snow.mkv"), scratch.path("mirror.mkv"))
    let made = try Command.run(
      [
        "-q", "videotestsrc", "pattern=snow", "num-buffers=60", "!", "video/x-raw,format=I420,width=160,height=128",
        "!",
        "matroskamux", "!", "filesink", "location=\(clip)",
      ], of: URL(fileURLWithPath: "/usr/bin/gst-launch-1.0"))
    try #require(made.status == 0)
    let result = try Command.run(["reverse", clip, mirror, "--video-codec", codec, "--bitrate", "2M"])
    #expect(result.status == 0, "\(result.errors)")
    let size = try #require(try FileManager.default.attributesOfItem(atPath: mirror)[.size] as? Int)
    #expect((100_000...900_000).contains(size), "\(size)")
  }

  @Test("codecs --json lists encoders and decoders")
  func codecsJSON() throws {
    struct Codec: Decodable {
      struct Element: Decodable {
        var name: String
        var isHardware: Bool
      }
      var name: String
      var encoders: [Element]
      var decoders: [Element]
    }
    let result = try Command.run(["codecs", "--json"])
    let codecs = try JSONDecoder().decode([Codec].self, from: Data(result.output.utf8))
    let h264 = try #require(codecs.first { $0.name == "h264" })
    #expect(h264.encoders.first?.name == "x264enc" && h264.encoders.first?.isHardware == false)
    #expect(h264.decoders.contains { $0.name == "avdec_h264" })
  }
}
