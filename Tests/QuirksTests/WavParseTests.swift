import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of wavparse") struct WavParseTests {
  private func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  /// Returns the header of a mono file. The default is 16-bit PCM at 48 kHz.
  private func header(bytes: Int, codec: Int = 1, rate: Int = 48_000, bits: Int = 16) -> [UInt8] {
    Array("RIFF".utf8) + little(bytes + 36, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(codec, 2)
      + little(1, 2) + little(rate, 4) + little(rate * bits / 8, 4) + little(max(bits / 8, 1), 2) + little(bits, 2)
      + Array("data".utf8) + little(bytes, 4)
  }

  @Test("audio beyond 2 GiB is not read")
  func size() throws {
    let folder = try TemporaryFolder()
    let (path, size) = (folder.path("a.wav"), 1 << 31 + 96_000)
    let start = header(bytes: size)
    try Data(start).write(to: URL(fileURLWithPath: path))
    // The file is sparse, so the silence takes no disk space.
    try FileHandle(forWritingTo: URL(fileURLWithPath: path)).truncate(atOffset: UInt64(start.count + size))
    try expect(.wavparseSize) {
      let pipeline = try Pipeline("filesrc location=\(path) ! wavparse ! appsink name=sink max-buffers=1 sync=false")
      let sink = try pipeline.appSink("sink")
      pipeline.set(.playing)
      defer { pipeline.set(.null) }
      guard sink.pull(timeout: ClockTime(seconds: 5)) != nil, let duration = pipeline.duration else { return true }
      return duration < ClockTime(sampleIndex: size / 2, rate: 48_000)
    }
  }
  @Test("the pad template lacks G.722 and G.726", arguments: [(0x28F, 16_000), (0x45, 8000)])
  func template(codec: Int, rate: Int) throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.wav")
    try Data(header(bytes: 8000, codec: codec, rate: rate, bits: 4) + [UInt8](repeating: 0x55, count: 8000))
      .write(to: URL(fileURLWithPath: path))
    try expect(.wavparseTemplate) {
      let pipeline = try Pipeline("filesrc location=\(path) ! wavparse name=parse ! appsink name=sink sync=false")
      let sink = try pipeline.appSink("sink")
      pipeline.set(.playing)
      defer { pipeline.set(.null) }
      try #require(sink.pull(timeout: ClockTime(seconds: 5)) != nil)
      return try !(#require(pipeline.element("parse")?.staticPad("src")).declaresItsCaps)
    }
  }
}
