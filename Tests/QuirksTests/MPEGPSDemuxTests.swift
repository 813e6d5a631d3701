import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of mpegpsdemux") struct MPEGPSDemuxTests {
  @Test("a frame without a timestamp gets the timestamp of the next frame that has one")
  func missingTimes() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mpg", "-f lavfi -i testsrc2=size=320x180:rate=25:duration=3", "-c:v mpeg2video -g 12 -bf 2")
    try expect(.avdecMissingTimes) {
      let times = try samples(
        of: "filesrc location=\(path) ! mpegpsdemux ! mpegvideoparse ! avdec_mpeg2video"
      ).compactMap(\.buffer.pts)
      return zip(times, times.dropFirst()).contains { $0 >= $1 }
    }
  }

  @Test("audio before the first timestamp in the file is clipped")
  func start() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.mpg", "-f lavfi -i testsrc=size=320x240:rate=30:duration=1", tone,
      "-map 0:v -map 1:a -c:v mpeg2video -bf 2 -b:v 2M -c:a mp2")
    try expect(.mpegpsdemuxStart) {
      try packets(of: "filesrc location=\(path) ! mpegpsdemux name=d d.audio_c0").first?.isShown == false
    }
  }
}
