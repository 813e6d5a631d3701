import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of avdemux_gif") struct AVDemuxGIFTests {
  @Test("avdemux_gif does not end with the file")
  func end() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.gif", tenFrames)
    try expect(.avdemuxGIFEnd) {
      do {
        _ = try packets(of: "filesrc location=\(path) ! avdemux_gif", limit: ClockTime(nanoseconds: 300_000_000))
      } catch is Stuck {
        return true
      }
      return false
    }
  }
}
