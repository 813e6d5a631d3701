import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of vp9dec") struct VP9DecTests {
  @Test("vp9dec swaps the channels of RGB frames that it copies")
  func copiedRGB() throws {
    let folder = try TemporaryFolder()
    let file = try ffmpeg(
      folder, "red.webm", "-f lavfi -i color=c=red:size=64x64:rate=5:d=1,format=gbrp", "-c:v libvpx-vp9 -lossless 1")
    try expect(.vp9decCopiedRGB) {
      let frames = try packets(of: "filesrc location=\(file) ! matroskademux ! vp9parse ! vp9dec")
      // Planes of 64x64: green, blue, red.
      return try frames.contains { try $0.buffer.withBytes { $0[64 * 64 * 2] == 0 } }
    }
  }
}
