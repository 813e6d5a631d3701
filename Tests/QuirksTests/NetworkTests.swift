import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of network sources and demuxers") struct NetworkTests {
  /// Writes a DASH stream of 1-second segments, and returns the path of its manifest. Variant 0 has
  /// a high bit rate, variant 1 a low one.
  private func manifest(_ folder: TemporaryFolder) throws -> String {
    try ffmpeg(
      folder, "a.mpd", "-f lavfi -i testsrc=size=64x48:rate=10:duration=3",
      "-map 0 -map 0 -c:v libx264 -b:v:0 300k -b:v:1 60k -g 10 -seg_duration 1 -adaptation_sets id=0,streams=v")
  }

  @Test("dashdemux starts with the variant of the lowest bit rate")
  func firstVariant() throws {
    let folder = try TemporaryFolder()
    let path = try manifest(folder)
    let lowest = try FileBytes(folder.path("init-stream1.m4s")).bytes
    try #require(try FileBytes(folder.path("init-stream0.m4s")).bytes != lowest)
    try expect(.dashdemuxFirstVariant) {
      try atFirstBuffer(of: "filesrc location=\(path) ! dashdemux connection-speed=4294967") { _, _, first in
        try first.buffer.withBytes { Array($0) == lowest }
      }
    }
  }

  @Test("a missing last segment ends the stream without an error")
  func missingEnd() throws {
    let folder = try TemporaryFolder()
    _ = try manifest(folder)
    for number in 0...1 { try FileManager.default.removeItem(atPath: folder.path("chunk-stream\(number)-00003.m4s")) }
    let server = try WebServer(folder)
    try expect(.dashdemuxMissingEnd) {
      do {
        return try !packets(of: "souphttpsrc location=\(server.address("a.mpd")) ! dashdemux").isEmpty
      } catch is GStreamerError {
        return false
      }
    }
  }

  @Test("souphttpsrc treats an early disconnect as the end of the file")
  func earlyEnd() throws {
    let folder = try TemporaryFolder()
    try Data(repeating: 1, count: 100_000).write(to: URL(fileURLWithPath: folder.path("a.bin")))
    let server = try WebServer(folder)
    try expect(.souphttpsrcEarlyEnd) {
      do {
        let bytes = try packets(of: "souphttpsrc location=\(server.address("a.bin", .cut))").reduce(0) {
          $0 + $1.buffer.size
        }
        return bytes < 100_000
      } catch is GStreamerError {
        return false
      }
    }
  }
}
