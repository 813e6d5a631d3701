import Foundation
import Quirks
import TestSupport
import Testing

@Suite("Quirks of qtmux") struct QtMuxTests {
  @Test("Opus's header in MP4 has its bytes in the wrong order")
  func opusByteOrder() throws {
    try expect(.qtmuxOpusByteOrder) {
      let bytes = try DecodedMedia.buffers(
        of:
          "audiotestsrc num-buffers=10 ! audio/x-raw,rate=48000,channels=1 ! opusenc ! mp4mux fragment-duration=100 streamable=true"
      ).flatMap { $0 }
      // After the box's type: version, channels, then pre-skip and the rate, 48,000.
      let header = try #require(bytes.firstRange(of: Array("dOps".utf8)))
      return Array(bytes[header.upperBound + 4..<header.upperBound + 8]) == [0x80, 0xBB, 0, 0]
    }
  }
}
