import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of video converters") struct ConverterTests {
  @Test("videorate repeats frames or crashes if it changes the speed of variable-rate video")
  func speedWithoutRate() throws {
    try expect(.videorateSpeedWithoutRate) {
      let pipeline = """
        videotestsrc num-buffers=10 ! video/x-raw,format=GRAY8,width=16,height=16,framerate=25/1 !
        capssetter caps=video/x-raw,framerate=0/1 ! videorate rate=2 ! identity eos-after=100 ! fdsink
        """
      let ending = try launch(["-f"] + pipeline.split(whereSeparator: \.isWhitespace).map(String.init))
      return ending.isCrash || ending.text.utf8.count > 10 * 256
    }
  }

  @Test("opaque YUV frames become RGBA, not RGB")
  func alphaForOpaque() throws {
    try expect(.videoconvertAlphaForOpaque) {
      let png = try bytes(of: "videotestsrc num-buffers=1 ! video/x-raw,format=I420 ! videoconvert ! pngenc")
      // The header's colour type: 2 is RGB, 6 is RGBA.
      return png[25] == 6
    }
  }

  @Test("grey frames without colorimetry are converted to RGB differently from BT.601 frames")
  func unsaidColorimetry() throws {
    try expect(.videoconvertUnsaidColorimetry) {
      func converted(_ colorimetry: String) throws -> [UInt8] {
        try bytes(
          of: """
            videotestsrc num-buffers=1 pattern=smpte ! video/x-raw,format=GRAY8,width=64,height=64 !
            capssetter replace=true
            caps="video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1\(colorimetry)" !
            videoconvert dither=none ! video/x-raw,format=RGB
            """)
      }
      return try converted("") != converted(",colorimetry=bt601")
    }
  }

  @Test("limited range is not expanded if the matrix stays the same")
  func range() throws {
    try expect(.videoconvertRange) {
      let white = try bytes(
        of: """
          videotestsrc num-buffers=1 pattern=white ! video/x-raw,format=I420,width=64,height=64,colorimetry=bt601 !
          videoconvert dither=none ! video/x-raw,format=I420,colorimetry=(string)1:4:0:0
          """)
      return white.first == 235
    }
  }

  @Test("videocrop does not accept all formats", arguments: ["NV16", "P010_10LE", "Y444_16LE"])
  func cropFormats(_ format: String) throws {
    try expect(.videocropFormats) {
      fails("videotestsrc num-buffers=1 ! video/x-raw,format=\(format),width=64,height=48 ! videocrop left=8")
    }
  }
}
