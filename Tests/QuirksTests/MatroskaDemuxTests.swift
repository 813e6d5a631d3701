import CGStreamer
import Foundation
import GStreamer
import MediaTime
import Quirks
import Synchronization
import TestSupport
import Testing

@Suite("Quirks of matroskademux") struct MatroskaDemuxTests {
  @Test("tags after a non-ASCII tag name are lost")
  func tagNames() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mka")
    _ = try FFmpeg.bytes(
      [
        "-f", "lavfi", "-i", "sine=d=0.2", "-metadata", "Gr\u{f6}\u{df}e=x", "-metadata", "ARTIST=a", "-c:a", "flac",
        path,
      ])
    try expect(.matroskademuxTagNames) {
      try atFirstBuffer(of: "filesrc location=\(path) ! matroskademux") { pad, _, _ in
        pad.tags(global: true)?.has("artist") != true
      }
    }
  }

  @Test("the first frame has stream time 0 even if its timestamp is later")
  func startTime() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mkv", tenFrames, "-vf setpts=PTS+0.3/TB -c:v mjpeg")
    try expect(.matroskademuxStartTime) {
      let first = try #require(packets(of: "filesrc location=\(path) ! matroskademux").first)
      return try #require(first.buffer.pts) > .zero && first.streamTime == .zero
    }
  }

  @Test("ProRes packets have no timestamps")
  func proRes() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mkv", tenFrames, "-c:v prores_ks")
    try expect(.matroskademuxProResTimes) {
      let found = try packets(of: "filesrc location=\(path) ! matroskademux")
      #expect(found.count == 10)
      return found.allSatisfy { $0.buffer.pts == nil && $0.buffer.dts == nil }
    }
  }

  @Test("the order of separately coded fields is not read")
  func fieldOrder() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(
      ffmpeg(folder, "a.mkv", tenFrames, "-vf setfield=bff -c:v ffv1 -level 1 -field_order bb"))
    // Sets FieldOrder, which follows FlagInterlaced, to 6: bottom field first, coded separately.
    // FFmpeg 5 writes 6, but FFmpeg 7 writes 14.
    let order = try #require(Data(file.bytes).range(of: Data([0x9A, 0x81, 1, 0x9D, 0x81]))).upperBound
    file.bytes[order] = 6
    try file.write()
    try expect(.matroskademuxFieldOrder) {
      try packets(of: "filesrc location=\(file.path) ! matroskademux").first?.caps?.string("field-order") == nil
    }
  }

  @Test("Opus that starts within its priming gets 0 as its first timestamp")
  func opusStart() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.mka", tone, "-c:a libopus"))
    // Changes the cluster's timestamp from 0 to 5 ms, which is less than the priming of 6.5 ms.
    let timestamp = try #require(Data(file.bytes).range(of: Data([0xE7, 0x81, 0x00]))).upperBound - 1
    file.bytes[timestamp] = 5
    try file.write()
    try expect(.matroskademuxOpusStart) {
      let times = try packets(of: "filesrc location=\(file.path) ! matroskademux").compactMap(\.buffer.pts)
      return try #require(times.first) == .zero && times[1] > ClockTime(nanoseconds: 18_000_000)
    }
  }

  @Test("priming of audio other than Opus is played")
  func codecDelay() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.mkv", tone, "-c:a ac3"))
    func samples() throws -> [Sample] { try packets(of: "filesrc location=\(file.path) ! matroskademux") }
    let plain = try samples().map(\.buffer.pts)
    // Replaces the Language element with a CodecDelay of 21 ms.
    let language: [UInt8] = [0x22, 0xB5, 0x9C, 0x83]
    let place = try #require(Data(file.bytes).range(of: Data(language))?.lowerBound)
    file.bytes.replaceSubrange(place..<place + 7, with: [0x56, 0xAA, 0x84, 0x01, 0x40, 0x6F, 0x40])
    try file.write()
    try expect(.matroskademuxCodecDelay) {
      let found = try samples()
      let isCut = found.contains {
        gst_buffer_get_meta($0.buffer.raw, gst_audio_clipping_meta_api_get_type()) != nil
      }
      return found.map(\.buffer.pts) == plain && !isCut
    }
  }

  @Test("reading time grows faster than the number of chapters")
  func chapters() throws {
    let folder = try TemporaryFolder()
    /// Returns the CPU time of the demuxer's thread from its first read to its first packet, in
    /// nanoseconds.
    func cost(_ count: Int) throws -> Int {
      let list = (0..<count).map { "[CHAPTER]\nTIMEBASE=1/100000\nSTART=\($0)\nEND=\($0 + 1)\ntitle=a\n" }
      let text = folder.path("chapters.txt")
      try (";FFMETADATA1\n" + list.joined()).write(toFile: text, atomically: true, encoding: .utf8)
      let path = try ffmpeg(folder, "a.mkv", tenFrames, "-i \(text) -c:v mjpeg")
      let times = Mutex<[Int]>([])
      _ = try packets(
        of: "filesrc name=file location=\(path) ! matroskademux name=demux", limit: ClockTime(seconds: 60)
      ) {
        $0.element("file")?.staticPad("src")?.onPull { _, _ in
          times.withLock { if $0.isEmpty { $0.append(Self.threadTime) } }
        }
        $0.element("demux")?.onPadAdded { pad in
          pad.onBuffer { _ in
            times.withLock { if $0.count == 1 { $0.append(Self.threadTime) } }
            return nil
          }
        }
      }
      let found = times.withLock { $0 }
      try #require(found.count == 2)
      return found[1] - found[0]
    }
    // If the time grew linearly, the ratio would be less than 16. Affected releases reach 100 and
    // more.
    try expect(.matroskademuxChapters) { try cost(5008) > 32 * cost(313) }
  }

  /// CPU time of the calling thread, in nanoseconds.
  private static var threadTime: Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  @Test("after a seek, the last frame is lost if it starts at the declared end")
  func seekEnd() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(ffmpeg(folder, "a.mkv", tenFrames, "-c:v mjpeg"))
    let place = try #require(Data(file.bytes).range(of: Data([0x44, 0x89, 0x88]))?.upperBound)
    let duration = withUnsafeBytes(of: (900.0).bitPattern.bigEndian, Array.init)
    file.bytes.replaceSubrange(place..<place + 8, with: duration)
    try file.write()
    try expect(.matroskademuxSeekEnd) {
      try atFirstBuffer(of: "filesrc location=\(file.path) ! matroskademux") { _, sink, _ in
        #expect(sink.seek(to: .zero))
        var count = 0
        while sink.pull(timeout: ClockTime(seconds: 5)) != nil { count += 1 }
        return count < 10
      }
    }
  }
}
