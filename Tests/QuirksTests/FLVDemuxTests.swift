import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of flvdemux") struct FLVDemuxTests {
  @Test("audio before the first video frame is clipped")
  func earlyAudio() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.flv", tenFrames, "-f lavfi -i sine=duration=1:sample_rate=44100",
      "-map 0:v -map 1:a -c:v libx264 -bf 2 -c:a aac")
    try expect(.flvdemuxEarlyAudio) {
      try packets(of: "filesrc location=\(path) ! flvdemux name=d d.audio").first?.isShown == false
    }
  }
}
