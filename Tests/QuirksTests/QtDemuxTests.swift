import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of qtdemux") struct QtDemuxTests {
  @Test("the last packet of audio with priming is lost")
  func primingEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.m4a", tone, "-c:a aac")
    try expect(.qtdemuxPrimingEnd) {
      let last = try #require(packets(of: "filesrc location=\(path) ! qtdemux").last)
      let (start, duration) = (try #require(last.buffer.pts), try #require(last.buffer.duration))
      return try start + duration < #require(last.segment.stop)
    }
  }

  @Test("a frame that is shown within an edit and decoded after it is lost")
  func editEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mp4", tenFrames, "-c:v mpeg4 -bf 2 -g 20 -sc_threshold 1000000000 -movflags negative_cts_offsets")
    var file = try FileBytes(path)
    // Nine of ten frames.
    let edits = try file.end(of: "elst") + 8
    file.set(file.integer(at: edits) * 9 / 10, at: edits)
    try file.write()
    try expect(.qtdemuxEditEnd) { try packets(of: "filesrc location=\(path) ! qtdemux").count(where: \.isShown) < 9 }
  }

  @Test("the last frame of a track is lost that the track's duration does not count")
  func trackEnd() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp4", tenFrames, "-c:v mpeg4 -use_editlist 0")
    var file = try FileBytes(path)
    let duration = try file.end(of: "mdhd") + 16
    file.set(file.integer(at: duration) * 9 / 10, at: duration)
    try file.write()
    try expect(.qtdemuxTrackEnd) { try packets(of: "filesrc location=\(path) ! qtdemux").count < 10 }
  }
}
