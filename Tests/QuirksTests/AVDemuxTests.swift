import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of FFmpeg's demuxers") struct AVDemuxTests {
  @Test("avdemux_gif and avdemux_nut never end the stream", arguments: [("gif", "gif"), ("nut", "mpeg4")])
  func end(_ format: String, codec: String) throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.\(format)", tenFrames, "-c:v \(codec)")
    try expect(.avdemuxEnd) {
      do {
        _ = try packets(of: "filesrc location=\(path) ! avdemux_\(format)", limit: ClockTime(nanoseconds: 300_000_000))
      } catch is Stuck {
        return true
      }
      return false
    }
  }

  @Test("avdemux_nut crashes on raw video of some pixel formats")
  func rawFormats() throws {
    let folder = try TemporaryFolder()
    for format in ["rgba", "nv12", "gbrp"] {
      let path = try ffmpeg(
        folder, "\(format).nut", "-f lavfi -i testsrc=size=64x48:rate=25:duration=1 -c:v rawvideo -pix_fmt \(format)")
      try expect(.avdemuxRawFormats) {
        let pipeline = ["filesrc", "location=\(path)", "!", "avdemux_nut", "!", "fakesink"]
        return try launch(["--no-fault"] + pipeline).isCrash
      }
    }
  }
}
