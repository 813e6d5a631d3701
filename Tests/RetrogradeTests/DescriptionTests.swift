import MediaTime
import TestSupport
import Testing

@testable import Retrograde

/// The report that `Reverser.plan()` returns.
@Suite struct DescriptionTests {
  @Test(
    "planning needs no spool directory",
    arguments: [
      ("a.mp4", ["-c:v", "libx264", "-c:a", "aac"]), ("a.ts", ["-c:v", "libx264", "-c:a", "mp2"]),
      ("a.mpg", ["-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"]),
      ("a.avi", ["-c:v", "mpeg4", "-bf", "2", "-c:a", "mp3"]),
      ("a.flac", ["-vn"]),
    ])
  func planWithoutSpool(_ name: String, _ codecs: [String]) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(name)
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=25:d=2", "-f", "lavfi", "-i", "sine=d=2:r=48000", "-g", "12"] + codecs
        + [path])
    var options = ReverseOptions()
    let known = try await Reverser(path, options: options).plan()
    options.resources.spoolDirectory = folder.path("nowhere")
    let report = try await Reverser(path, options: options).plan()
    #expect(report.spoolBytes == known.spoolBytes && report.spoolBytes > 0)
    #expect(report.streams.map(\.count) == known.streams.map(\.count) && report.warnings == known.warnings)
    await #expect(throws: RetrogradeError.self) {
      try await Reverser(path, options: options).reverse(to: folder.path("m.mkv"))
    }
  }

  @Test("planning needs no spool directory, even to join audio in different formats")
  func joinedPlan() async throws {
    let folder = try TemporaryFolder()
    for (name, rate) in [("a.flac", "44100"), ("b.flac", "48000")] {
      _ = try FFmpeg.bytes(["-f", "lavfi", "-i", "sine=d=1:r=\(rate)", folder.path(name)])
    }
    var options = ReverseOptions()
    options.resources.spoolDirectory = folder.path("nowhere")
    let report = try await Reverser([folder.path("a.flac"), folder.path("b.flac")], options: options).plan()
    #expect(report.streams.map(\.count) == [88_200])
  }
}
