import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of oggmux") struct OggMuxTests {
  @Test("the last frame of the stream that ends first is lost")
  func lastPage() throws {
    // The muxer writes 12 of the 13 frames to one page, and the last frame to a page of its own.
    func frames(_ muxer: String) throws -> Int {
      let folder = try TemporaryFolder()
      try Pipeline(
        "\(muxer) name=mux ! filesink location=\(folder.path("a.ogv")) "
          + "videotestsrc num-buffers=13 ! video/x-raw,width=64,height=64,framerate=25/1 ! theoraenc ! mux. "
          + "audiotestsrc num-buffers=94 ! audio/x-raw,rate=48000 ! vorbisenc ! mux."
      ).runToEnd()
      return try FFmpeg.lines(["-i", folder.path("a.ogv"), "-map", "0:v", "-c", "copy", "-f", "framecrc", "-"]).count
    }
    #expect(try frames("oggmux max-page-delay=0 max-delay=\(Int.max)") == 13)
    try expect(.oggmuxLastPage) { try frames("oggmux") < 13 }
  }
}
