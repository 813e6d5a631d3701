import Quirks
import TestSupport
import Testing

@Suite("Quirks of xingmux") struct XingMuxTests {
  private static let source =
    "audiotestsrc num-buffers=20 ! audio/x-raw,rate=44100,channels=1 ! lamemp3enc ! mpegaudioparse"

  @Test("xingmux writes no LAME tag")
  func padding() throws {
    try expect(.xingmuxPadding) {
      let file = try MuxedFile("\(Self.source) ! xingmux")
      // Searches only the 156-byte frame that xingmux adds, because LAME's own frames also contain
      // the name.
      return file.bytes.prefix(156).firstRange(of: Array("LAME".utf8)) == nil
    }
  }

  @Test("xingmux counts one frame too many")
  func frameCount() throws {
    try expect(.xingmuxFrameCount) {
      let file = try MuxedFile("\(Self.source) ! xingmux")
      let count = try file.words(in: "Xing")[1]
      return count == (try DecodedMedia.buffers(of: Self.source).count) + 1
    }
  }
}
