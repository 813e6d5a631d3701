import Foundation
import Testing

/// Sources for which no decoder is installed.
@Suite struct MissingPluginTests {
  private static let h264 = "avdec_h264:NONE,openh264dec:NONE"
  private static let aac = "avdec_aac:NONE,avdec_aac_fixed:NONE,faad:NONE,fdkaacdec:NONE"

  private func reverse(without ranks: String, _ arguments: [String] = []) throws -> (Command.Result, Set<String>) {
    let scratch = try Scratch()
    try Command.makeClip(scratch.path("a.mp4"), frames: 10)
    var environment = ProcessInfo.processInfo.environment
    environment["GST_PLUGIN_FEATURE_RANK"] = ranks
    let result = try Command.run(
      ["reverse", scratch.path("a.mp4"), scratch.path("b.mkv")] + arguments, environment: environment)
    return (result, scratch.names)
  }

  @Test(
    "a missing decoder for a main stream ends the run without output",
    arguments: [(h264, "--no-video"), (aac, "--no-audio")])
  func missingDecoder(ranks: String, option: String) throws {
    let (result, names) = try reverse(without: ranks)
    #expect(result.status == 69)
    #expect(!result.errors.contains("gstreamer1.0-libav"), "it is installed")
    #expect(result.errors.contains(option))
    #expect(names == ["a.mp4"])
  }

  @Test(
    "a stream that is left out needs no decoder",
    arguments: [(h264, ["--no-video"]), (aac, ["--no-audio"]), (aac, ["--streams", "video"])])
  func leftOutStream(ranks: String, option: [String]) throws {
    let (result, names) = try reverse(without: ranks, option + ["--strict"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(names == ["a.mp4", "b.mkv"])
  }
}
