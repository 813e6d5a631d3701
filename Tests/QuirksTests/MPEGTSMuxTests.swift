import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of mpegtsmux") struct MPEGTSMuxTests {
  @Test("mpegtsmux refuses JPEG 2000 although its caps list it")
  func jpeg2000() throws {
    try expect(.mpegtsmuxJPEG2000) {
      let caps =
        "image/x-jpc,width=64,height=64,framerate=25/1,sampling=YCbCr-4:2:0,colorspace=sYUV,alignment=frame,"
        + "num-components=3,profile=0"
      try #require(Registry.factory("mpegtsmux", takes: try #require(Caps(caps))))
      let video = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=64,framerate=25/1 ! jpegenc"
      let file = try? MuxedFile("\(video) ! capssetter replace=true join=false caps=\(caps) ! mpegtsmux")
      return file?.bytes.isEmpty ?? true
    }
  }

  @Test(
    "mpegtsmux refuses VP9 and AV1 although its caps list them",
    arguments: [
      "video/x-vp9,width=64,height=64,framerate=25/1",
      "video/x-av1,width=64,height=64,framerate=25/1,stream-format=obu-stream,alignment=frame",
    ])
  func customMappings(caps: String) throws {
    try expect(.mpegtsmuxCustomMappings) {
      guard Registry.factory("mpegtsmux", takes: try #require(Caps(caps))) else { return false }
      let video = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=64,framerate=25/1 ! jpegenc"
      let file = try? MuxedFile("\(video) ! capssetter replace=true join=false caps=\(caps) ! mpegtsmux")
      return file?.bytes.isEmpty ?? true
    }
  }
}
