import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of wavpackdec") struct WavPackDecTests {
  @Test("undecodable blocks become silence")
  func mutedBlock() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.wv", "-f lavfi -i sine=r=48000:d=3", "-c:a wavpack"))
    file.bytes[file.bytes.count / 2] ^= 16
    try file.write()
    try expect(.wavpackdecMutedBlock) {
      let blocks = try packets(of: "filesrc location=\(file.path) ! wavpackparse ! wavpackdec")
      return try blocks.contains { try $0.buffer.withBytes { $0.allSatisfy { $0 == 0 } } }
    }
  }
}
