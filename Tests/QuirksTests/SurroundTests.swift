import Foundation
import GStreamer
import Quirks
import TestSupport
import Testing

@Suite("Quirks of surround audio") struct SurroundTests {
  /// Elements that output eight channels, all silent except the centre.
  private static let centre =
    "audiotestsrc num-buffers=40 freq=100 ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! "
    + "audioconvert mix-matrix=\"<" + (0..<8).map { "<(float)\($0 == 2 ? 1 : 0)>" }.joined(separator: ",") + ">\" ! "
    + "audio/x-raw,channels=8,channel-mask=(bitmask)0xc3f"

  /// Returns the index of the loudest of eight interleaved 16-bit channels.
  private func loudest(_ bytes: [UInt8]) -> Int? {
    var sums = [Int](repeating: 0, count: 8)
    for place in stride(from: 0, to: bytes.count - 1, by: 2) {
      sums[place / 2 % 8] += Int(Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8).magnitude)
    }
    return sums.indices.max { sums[$0] < sums[$1] }
  }

  private func decoded(_ path: String) throws -> [UInt8] { try FFmpeg.bytes(["-i", path, "-f", "s16le", "-"]) }

  @Test("flacdec swaps channels of 7.1")
  func flacdec() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.flac", "-f lavfi -i aevalsrc=0|0|0.5|0|0|0|0|0:c=7.1:d=0.2:s=48000")
    try expect(.flacdecSurround) {
      try loudest(bytes(of: "filesrc location=\(path) ! flacparse ! flacdec ! audioconvert ! audio/x-raw,format=S16LE"))
        != 2
    }
  }

  @Test("flacenc swaps channels of 7.1")
  func flacenc() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.flac")
    try expect(.flacencSurround) {
      try Pipeline("\(Self.centre) ! flacenc ! filesink location=\(path)").runToEnd()
      return try loudest(decoded(path)) != 2
    }
  }

  @Test("opusenc swaps channels of 7.1")
  func opusenc() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.opus")
    try expect(.opusencSurround) {
      try Pipeline("\(Self.centre) ! opusenc ! oggmux ! filesink location=\(path)").runToEnd()
      return try loudest(decoded(path)) != 2
    }
  }

  @Test("wavenc does not write the channel mask of 7.1")
  func wavenc() throws {
    try expect(.wavencChannelMask) {
      let file = try MuxedFile("\(Self.centre) ! wavenc")
      return file.bytes[20] == 0xFE && file.bytes[40..<44].allSatisfy { $0 == 0 }
    }
  }

  @Test("wavparse's caps lack the channel mask of ten unpositioned channels")
  func wavparse() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.wav")
    func word(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let form = word(1, 2) + word(10, 2) + word(8000, 4) + word(160_000, 4) + word(20, 2) + word(16, 2)
    let body = Array("WAVEfmt ".utf8) + word(16, 4) + form + Array("data".utf8) + word(6000, 4)
    try Data(Array("RIFF".utf8) + word(body.count + 6000, 4) + body + [UInt8](repeating: 1, count: 6000))
      .write(to: URL(fileURLWithPath: path))
    try expect(.wavparseChannelMask) { try caps(of: "filesrc location=\(path) ! wavparse").lacksChannelMask }
  }
}
