import Foundation
import TestSupport
import Testing

@testable import Retrograde
@testable import RetrogradeEngine

/// Frame times of fragmented MP4 with B-frames.
@Suite struct FragmentTests {
  /// Writes a fragmented MP4 of fifty frames at 25 fps. The lowest composition offsets of the
  /// fragments differ.
  private func film(_ folder: TemporaryFolder, _ flags: String) throws -> String {
    let path = folder.path("s.mp4")
    let frames = ["-f", "lavfi", "-i", "testsrc2=s=192x108:r=25:d=2", "-c:v", "libx264", "-g", "12"]
    _ = try FFmpeg.bytes(frames + ["-movflags", flags, path])
    return path
  }

  @Test(
    "all frames of fragmented MP4 keep their times",
    arguments: [
      "cmaf+frag_keyframe", "cmaf+frag_every_frame", "frag_keyframe+negative_cts_offsets",
      "delay_moov+empty_moov+frag_keyframe+negative_cts_offsets", "frag_keyframe+skip_sidx+skip_trailer",
    ])
  func times(_ flags: String) async throws {
    let folder = try TemporaryFolder()
    let summary = try await Reverser(film(folder, flags)).reverse(to: folder.path("o.mkv"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let times = try FFmpeg.frames(folder.path("o.mkv")).map(\.time)
    #expect(times == (0..<50).map { $0 * 40 }, "\(times)")
  }

  @Test("fragmented MP4 is refused if qtdemux would misread its times and they can't be corrected")
  func noRoom() async throws {
    let folder = try TemporaryFolder()
    let path = try film(folder, "cmaf+frag_keyframe")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // The engine overwrites the data references (`dinf`) with an edit list. Without them, there is
    // no room for the list.
    let name = try #require(bytes.range(of: Data("dinf".utf8)))
    bytes.replaceSubrange(name, with: Data("free".utf8))
    try bytes.write(to: URL(fileURLWithPath: path))
    let error = await #expect(throws: RetrogradeError.self) {
      try await Reverser(path).reverse(to: folder.path("o.mkv"))
    }
    #expect(error?.code == .missingPlugin)
  }
}
