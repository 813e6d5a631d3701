import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of wavparse") struct WavParseTests {
  /// The header of a mono 16-bit file at 48 kHz.
  private func header(bytes: Int) -> [UInt8] {
    func little(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    return Array("RIFF".utf8) + little(bytes + 36, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
      + little(1, 2) + little(48_000, 4) + little(96_000, 4) + little(2, 2) + little(16, 2) + Array("data".utf8)
      + little(bytes, 4)
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
}
