import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of webpenc") struct WebPEncTests {
  @Test("webpenc writes no animations")
  func singleFrames() throws {
    try expect(.webpencSingleFrames) {
      // Releases without the property `animated` refuse the pipeline, so `files` is nil.
      let video = "videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16"
      let files = try? DecodedMedia.buffers(of: "\(video) ! webpenc animated=true")
      return files?.count != 1
    }
  }
}
