import GStreamer
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Guarantees of `--quality lossless` in each container.
@Suite struct LosslessTests {
  private static let options = ReverseOptions(encoding: EncodingOptions(quality: .lossless))

  /// Writes five frames of FFV1 in Matroska.
  private func source(_ folder: TemporaryFolder, _ format: String, width: Int = 64, height: Int = 48) throws -> String {
    let path = folder.path("source.mkv")
    try run(
      pipeline: "videotestsrc num-buffers=5 pattern=ball ! video/x-raw,format=\(format),width=\(width),"
        + "height=\(height),framerate=25/1 ! avenc_ffv1 ! matroskamux ! filesink location=\(path)")
    return path
  }

  /// Returns the checksum of each frame, as decoded by FFmpeg.
  private func frames(_ path: String) throws -> [String] {
    try FFmpeg.lines(["-i", path, "-map", "0:v", "-f", "framemd5", "-"]).map { line in
      String(line.split(separator: ",").last ?? "")
    }
  }

  @Test(
    "lossless H.264 outside Matroska keeps every pixel", arguments: ["I420", "Y42B", "Y444", "I422_10LE"],
    ["mp4", "mov", "avi"])
  func exactPixels(format: String, container: String) async throws {
    let folder = try TemporaryFolder()
    let source = try source(folder, format)
    let output = folder.path("o.\(container)")
    try await Reverser(source, options: LosslessTests.options).reverse(to: output)
    let wanted = try frames(source)
    #expect(Set(wanted).count > 1)
    #expect(try frames(output) == wanted.reversed())
  }

  @Test(
    "pixels that lossless H.264 can't store are refused in .mp4, but kept in .mkv",
    // GRAY8 is not tested, because x264enc accepts it since 1.24.
    arguments: [("BGRA", 64), ("I420_12LE", 64), ("I420", 65)])
  func inexactPixels(format: String, width: Int) async throws {
    let folder = try TemporaryFolder()
    let source = try source(folder, format, width: width)
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(source, options: LosslessTests.options).reverse(to: folder.path("o.mp4"))
    }
    #expect(error?.code == .usage && error?.description.contains(".mkv") ?? false, "\(String(describing: error))")
    #expect(error?.description.contains(format) ?? false)
    #expect(folder.names == ["source.mkv"])
    try await Reverser(source, options: LosslessTests.options).reverse(to: folder.path("o.mkv"))
    #expect(try frames(folder.path("o.mkv")) == frames(source).reversed())
  }

  @Test("rounding of audio samples is reported", arguments: [("mp4", true), ("mkv", false), ("wav", false)])
  func roundedSamples(container: String, isRounded: Bool) async throws {
    let folder = try TemporaryFolder()
    let media = TestMedia.audioOnly("source.m4a", "avenc_aac ! aacparse", muxer: "mp4mux")
    let summary = try await Reverser(try media.write(to: folder), options: LosslessTests.options)
      .reverse(to: folder.path("o.\(container)"))
    #expect(summary.warnings.contains { $0.code == .converted } == isRounded, "\(summary.warnings)")
  }
}
