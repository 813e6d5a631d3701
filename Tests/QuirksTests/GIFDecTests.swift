import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of gifdec") struct GIFDecTests {
  @Test("a GIF that does not loop has no frames")
  func repeats() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.gif", tenFrames, "-loop -1")
    try expect(.gifdecRepeats) { try packets(of: "filesrc location=\(path) ! gifdec").isEmpty }
  }
}
