import Quirks
import TestSupport
import Testing

@Suite("Quirks of id3v2mux") struct ID3v2MuxTests {
  @Test("id3v2mux encodes non-ASCII comments as UTF-8 twice")
  func comments() throws {
    try expect(.id3v2muxComments) {
      let file = try MuxedFile(
        "audiotestsrc num-buffers=20 ! audio/x-raw,rate=44100,channels=1 ! lamemp3enc ! mpegaudioparse "
          + "! taginject tags=\"comment=(string)k\u{fc}hl\" ! id3v2mux")
      // Correct encodings are UTF-16 (in ID3v2.3) and Latin-1.
      let right = [[0x6B, 0, 0xFC, 0], [0, 0x6B, 0, 0xFC], [0x6B, 0xFC]] as [[UInt8]]
      return !right.contains { file.contains($0) }
    }
  }
}
