import Foundation
import TestSupport
import Testing

@testable import Images
@testable import Retrograde
@testable import RetrogradeEngine

/// Frame rates, durations and numbers of plays that an animation format can't store.
@Suite struct AnimationLimitTests {
  private func reverse(
    _ source: String, to output: String, _ change: (inout ReverseOptions) -> Void = { _ in }
  ) async throws -> (warnings: [Warning], checks: [Verification.Check]) {
    var options = ReverseOptions()
    options.output.overwrites = true
    change(&options)
    let summary = try await Reverser(source, options: options).reverse(to: output)
    let verification = try await Verifier(source, mirror: output, options: options).verify()
    #expect(verification.difference == nil, "\(verification.difference ?? "")")
    return (summary.warnings, verification.checks)
  }

  @Test("frames that are too fast for GIF are counted, and fail a strict run", arguments: [nil, 60])
  func fastFrames(rate: Int?) async throws {
    let folder = try TemporaryFolder()
    let (source, output) = (folder.path("s.mkv"), folder.path("m.gif"))
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=128x96:r=60:d=0.3", "-c:v", "ffv1", source])
    let change: (inout ReverseOptions) -> Void = { $0.playback.frameRate = rate.flatMap { FrameRate($0, 1) } }
    let (warnings, checks) = try await reverse(source, to: output, change)
    #expect(warnings.map(\.code) == [.notWritten] && warnings.first?.count == 3)
    #expect(warnings.first?.message.contains("3 of 18 frames") == true, "\(warnings)")
    #expect(try DecodedAnimation(output).delays == Array(repeating: 20, count: 15))
    let frames = try #require(checks.first { $0.subject == "frames" })
    #expect(frames.finding.contains("3 of 18 were left out"), "\(frames.finding)")
    var options = ReverseOptions()
    change(&options)
    options.output.isStrict = true
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: options).reverse(to: folder.path("strict.gif"))
    }
    #expect(error?.code == .damagedInput)
    let requested = try await reverse(source, to: output) { $0.playback.frameRate = FrameRate(20, 1) }
    #expect(requested.warnings.isEmpty, "\(requested.warnings)")
  }

  /// Six frames of 10 ms each, then longer ones: on average, fewer than 50 frames per second.
  @Test("frames that are too short for GIF do not delay later, longer frames")
  func shortFrames() async throws {
    let folder = try TemporaryFolder()
    let (source, output) = (folder.path("s.mkv"), folder.path("m.gif"))
    _ = try FFmpeg.bytes([
      "-f", "lavfi", "-i", "testsrc2=s=128x96:r=100:d=0.08", "-vf", "setpts='if(lt(N,6),N*10,60+(N-6)*200)/1000/TB'",
      "-fps_mode", "passthrough", "-c:v", "ffv1", source,
    ])
    let mirror = try await reverse(source, to: output)
    #expect(mirror.warnings.map(\.code) == [.converted] && mirror.warnings.first?.count == 3)
    #expect(mirror.warnings.first?.message.contains("up to 0.050 s too late") == true, "\(mirror.warnings)")
    #expect(try Array(DecodedAnimation(output).delays.suffix(6)) == Array(repeating: 20, count: 6))
    let forward = try await reverse(source, to: output) { $0.playback.loop = .forward }
    #expect(forward.warnings.map(\.count) == [4], "the frame after the six frames is late too")
    let delays = try DecodedAnimation(output).delays
    #expect(delays.prefix(7) == [20, 20, 20, 20, 20, 20, 140], "\(delays)")
  }

  @Test("a long frame keeps its duration, or a warning says how much is lost", arguments: [70, 20_000])
  func longFrames(seconds: Int) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("s.apng")
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=128x96:r=10:d=0.3", "-final_delay", "\(seconds)", source])
    for (format, most) in [("apng", 65_535_000), ("webp", 16_777_215), ("gif", 655_350)] {
      let output = folder.path("m.\(format)")
      // Newer releases of FFmpeg may also write metadata that is left out.
      let warnings = try await reverse(source, to: output).warnings.filter { $0.code == .converted }
      #expect(try DecodedAnimation(output).delays == [min(seconds * 1000, most), 100, 100])
      #expect(warnings.count == (seconds * 1000 > most ? 1 : 0), "\(warnings)")
      #expect(warnings.allSatisfy { $0.count == 1 && $0.message.contains("instead of 20000.000 s") })
    }
  }

  @Test(
    "durations in APNG are stored as the nearest fraction",
    arguments: [
      (-5, 0, 1000), (40, 40, 1000), (65_535, 65_535, 1000), (65_536, 8192, 125), (70_000, 70, 1),
      (40_000_123, 40_000, 1), (100_000_000, 65_535, 1),
    ])
  func fractions(milliseconds: Int, numerator: Int, denominator: Int) {
    let delay = APNGChunks.delay(milliseconds)
    #expect(delay.numerator == numerator && delay.denominator == denominator)
  }

  @Test("a GIF with one frame keeps its duration in WebP")
  func oneFrame() async throws {
    let folder = try TemporaryFolder()
    let (source, output) = (folder.path("s.gif"), folder.path("m.webp"))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=10", "-frames:v", "1", "-final_delay", "50", source])
    #expect(try await reverse(source, to: output).warnings.isEmpty)
    #expect(try DecodedAnimation(output).delays == [500])
    _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "testsrc2=s=128x96", "-frames:v", "1", folder.path("s.png")])
    try await Reverser(folder.path("s.png")).reverse(to: folder.path("still.webp"))
    let still = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.path("still.webp"))))
    #expect(!WebPFrames.isAnimated(still), "a still image stays a still image")
  }

  @Test("a WebP with one frame keeps transparency, duration and number of plays", arguments: [nil, 75.0])
  func oneTransparentFrame(quality: Double?) throws {
    let folder = try TemporaryFolder()
    let pixels = (0..<128 * 96).flatMap { place -> [UInt8] in [200, 40, 40, place % 128 < 64 ? 0 : 130] }
    let animation = try WebPAnimation(width: 128, height: 96, quality: quality, plays: 3)
    try pixels.withUnsafeBytes { try animation.add($0, as: .rgba, at: 0) }
    var bytes: [UInt8] = []
    try animation.finish(at: 70_000) { bytes = Array($0) }
    try Data(bytes).write(to: URL(fileURLWithPath: folder.path("a.webp")))
    let read = try DecodedAnimation(folder.path("a.webp"))
    #expect(read.delays == [70_000] && read.loops == 3)
    func alpha(_ pixels: [UInt8]) -> [UInt8] { stride(from: 3, to: pixels.count, by: 4).map { pixels[$0] } }
    #expect(alpha(read.first) == alpha(pixels))
    let frames = try #require(WebPFrames(bytes))
    #expect(frames.frames.map(\.milliseconds) == [70_000] && frames.damage == nil && frames.plays == 3)
  }

  @Test("a number of plays that the format can't store is reduced, with a warning")
  func plays() async throws {
    let folder = try TemporaryFolder()
    let input = ["-f", "lavfi", "-i", "testsrc2=s=128x96:r=10:d=0.3"]
    _ = try FFmpeg.bytes(input + ["-loop", "65535", folder.path("s.gif")])
    _ = try FFmpeg.bytes(input + ["-plays", "3", folder.path("s.apng")])
    // FFmpeg writes up to 65,535 plays.
    var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.path("s.apng")))
    let place = try #require(bytes.range(of: Data("acTL".utf8))).lowerBound - 4
    bytes.replaceSubrange(place..<place + 20, with: APNGChunks(plays: 100_000).count(3))
    try bytes.write(to: URL(fileURLWithPath: folder.path("s.apng")))
    // GIF stores the number of repetitions.
    for (source, format, loops, warned) in [
      ("s.gif", "gif", 65_535, ""), ("s.gif", "webp", 65_535, "65535 times instead of 65536"),
      ("s.apng", "gif", 65_535, "65536 times instead of 100000"),
      ("s.apng", "webp", 65_535, "65535 times instead of 100000"), ("s.apng", "apng", 100_000, ""),
    ] {
      let output = folder.path("m.\(format)")
      let warnings = try await reverse(folder.path(source), to: output).warnings.filter { $0.code == .converted }
      #expect(try DecodedAnimation(output).loops == loops)
      #expect(warnings.count == (warned.isEmpty ? 0 : 1), "\(warnings)")
      #expect(warnings.allSatisfy { $0.message.contains(warned) }, "\(warnings)")
    }
  }
}
