import Foundation
import TestSupport
import Testing

@testable import Retrograde

/// MP4 tracks that are much shorter than the others.
@Suite struct ShortTrackTests {
  @Test("a track shorter than a fifth of the movie is read", arguments: ["video", "audio", "subtitles"])
  func shortTracks(_ short: String) async throws {
    let folder = try TemporaryFolder()
    let length = ["video": "0.2", "audio": "6"][short] ?? "6"
    let audio = ["audio": "0.5"][short] ?? "6"
    try Data("1\n00:00:00,100 --> 00:00:00,400\nHello\n".utf8).write(to: URL(filePath: folder.path("a.srt")))
    _ = try FFmpeg.bytes(
      ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=\(length)", "-f", "lavfi", "-i", "sine=d=\(audio):r=48000"]
        + ["-i", folder.path("a.srt"), "-c:v", "libx264", "-bf", "2", "-c:a", "aac", "-c:s", "mov_text"]
        + ["-map", "0", "-map", "1", "-map", "2", folder.path("a.mp4")])
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    let summary = try await Reverser(folder.path("a.mp4"), options: options).reverse(to: folder.path("m.mkv"))
    #expect(summary.warnings.isEmpty, "\(summary.warnings)")
    let (video, samples) = (short == "video" ? 2 : 60, short == "audio" ? 24_000 : 288_000)
    #expect(summary.frames == video && summary.samples == [samples])
    let found = try FFmpeg.bytes(["-i", folder.path("m.mkv"), "-map", "0:s", "-f", "srt", "-"])
    let text = String(decoding: found, as: UTF8.self)
    #expect(text.contains("00:00:05,600 --> 00:00:05,900\nHello"), "\(text)")
    #expect(try await Verifier(folder.path("a.mp4"), mirror: folder.path("m.mkv")).verify().isMirror)
  }
}
