import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of oggmux") struct OggMuxTests {
  @Test("the last frame of the stream that ends first is not in Ogg")
  func lastPage() throws {
    // Half a second of each; the video ends with a keyframe's page that holds one delta frame.
    func frames(_ muxer: String) throws -> Int {
      let folder = try TemporaryFolder()
      try Pipeline(
        "\(muxer) name=mux ! filesink location=\(folder.path("a.ogv")) "
          + "videotestsrc num-buffers=13 ! video/x-raw,width=64,height=64,framerate=25/1 ! theoraenc ! mux. "
          + "audiotestsrc num-buffers=94 ! audio/x-raw,rate=48000 ! vorbisenc ! mux."
      ).runToEnd()
      return try FFmpeg.lines(["-i", folder.path("a.ogv"), "-map", "0:v", "-c", "copy", "-f", "framecrc", "-"]).count
    }
    #expect(try frames("oggmux max-page-delay=0") == 13)
    try expect(.oggmuxLastPage) { try frames("oggmux") < 13 }
  }
}
