import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of avidemux") struct AVIDemuxTests {
  @Test("times of frames stand still or run back at keyframes where there are B-frames")
  func keyframeTimes() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.avi", "-f lavfi -i testsrc=size=64x48:rate=10:duration=2", "-c:v mpeg4 -bf 2 -g 5")
    try expect(.avidemuxKeyframeTimes) {
      let times = try packets(of: "filesrc location=\(path) ! avidemux ! avdec_mpeg4").compactMap(\.buffer.pts)
      return zip(times, times.dropFirst()).contains { $0 >= $1 }
    }
  }

  @Test("the pixel aspect ratio of frames stored from the top down is negative")
  func pixelAspect() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.avi", tenFrames, "-vf setsar=2/1 -c:v rawvideo -pix_fmt bgr24")
    try expect(.avidemuxPixelAspect) {
      let caps = try packets(of: "filesrc location=\(path) ! avidemux").first?.caps
      return try #require(caps?.fraction("pixel-aspect-ratio")).numerator < 0
    }
  }
}
