import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// B-frames in containers that do not store a presentation time for each frame.
@Suite struct ReorderedFramesTests {
  private static func numbers(_ path: String) throws -> [String] {
    let lines = try FFmpeg.bytes([
      "-i", path, "-map", "0:v", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", "-f", "framemd5", "-",
    ])
    return String(decoding: lines, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last.map(String.init) }
  }

  @Test(
    "a range of AVI with B-frames starts and ends at the requested frames",
    arguments: ["mpeg4", "mpeg2video"], ["1.04", "1.52"])
  func partOfAVI(_ codec: String, _ start: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("a.avi")
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=160x96:r=25:d=4", "-c:v", codec, "-g", "12", "-bf", "2", "-q:v", "2", source])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.playback.start = SourcePosition(floatLiteral: try #require(Double(start)))
    options.playback.end = 3
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let first = start == "1.04" ? 26 : 38
    #expect(try Self.numbers(folder.path("m.mkv")) == Self.numbers(source)[first..<75].reversed())
  }

  @Test(
    "frames without timestamps in a program stream are evenly spaced", arguments: [nil, "1.04"],
    ["mpeg2video", "mpeg1video"])
  func programStream(_ start: String?, _ codec: String) async throws {
    let folder = try TemporaryFolder()
    let source = folder.path("a.mpg")
    // Pictures are so small that a PES packet contains several, with a timestamp only for the
    // first. For the smallest size, GStreamer's timestamps jump.
    let picture = codec == "mpeg1video" ? "testsrc=s=64x48:r=25:d=3" : "testsrc2=s=320x180:r=25:d=3"
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", picture, "-c:v", codec, "-g", codec == "mpeg1video" ? "50" : "12", "-bf", "2", source])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    options.playback.start = start.flatMap { Double($0) }.map { SourcePosition(floatLiteral: $0) }
    let summary = try await Reverser(source, options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let first = start == nil ? 0 : 26
    #expect(try Self.numbers(folder.path("m.mkv")) == Self.numbers(source)[first...].reversed())
    let times = try FFmpeg.bytes(
      ["-i", folder.path("m.mkv"), "-map", "0:v", "-f", "framecrc", "-fps_mode", "passthrough", "-"])
    let stamps = String(decoding: times, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
      .compactMap { line in Int(line.split(separator: ",")[2].trimmingPrefix { $0 == " " }) }
    #expect(Set(zip(stamps, stamps.dropFirst()).map { $1 - $0 }).count == 1, "\(stamps)")
  }
}
