import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of matroskademux") struct MatroskaDemuxTests {
  @Test("a file that begins after 0 is shown from 0 on")
  func startTime() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mkv", tenFrames, "-vf setpts=PTS+0.3/TB -c:v mjpeg")
    try expect(.matroskademuxStartTime) {
      let first = try #require(packets(of: "filesrc location=\(path) ! matroskademux").first)
      return try #require(first.buffer.pts) > .zero && first.streamTime == .zero
    }
  }
}
