import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of tsdemux") struct TSDemuxTests {
  private func stream(_ folder: TemporaryFolder) throws -> FileBytes {
    try FileBytes(
      ffmpeg(
        folder, "a.ts", "-f lavfi -i testsrc=size=64x48:rate=30:duration=4",
        "-c:v mpeg2video -f mpegts -pcr_period 20"))
  }

  @Test("presentation times more than 5 s after the decoding times are discarded")
  func distantTimes() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.ts", "-f lavfi -i testsrc=size=64x48:rate=1/10:duration=60",
      "-c:v libx264 -bf 2 -x264-params b-adapt=0")
    try expect(.tsdemuxDistantTimes) {
      try packets(of: "filesrc location=\(path) ! tsdemux").allSatisfy { $0.buffer.pts == $0.buffer.dts }
    }
  }

  @Test("frames after a gap in clock references are too early")
  func clockGap() throws {
    let folder = try TemporaryFolder()
    var file = try stream(folder)
    var count = 0
    for packet in stride(from: 0, to: file.bytes.count, by: 188)
    where file.bytes[packet + 3] & 0x20 != 0 && file.bytes[packet + 4] > 6 && file.bytes[packet + 5] & 0x10 != 0 {
      count += 1
      // Removes the clock references of two of the four seconds.
      if (10..<70).contains(count) { file.bytes[packet + 5] &= ~0x10 }
    }
    #expect(count > 100, "the generated source has clock references")
    try file.write()
    try expect(.tsdemuxClockGap) {
      let times = try packets(of: "filesrc location=\(file.path) ! tsdemux").compactMap(\.buffer.pts)
      return zip(times, times.dropFirst()).contains { $0 > $1 }
    }
  }

  @Test("a frame with a repeated packet is lost")
  func repeatedPacket() throws {
    let folder = try TemporaryFolder()
    var file = try stream(folder)
    let whole = try packets(of: "filesrc location=\(file.path) ! tsdemux").count
    // Video packets in which no frame starts.
    let inner = stride(from: 0, to: file.bytes.count, by: 188).filter {
      file.bytes[$0 + 1] & 0x5F == 1 && file.bytes[$0 + 2] == 0
    }
    let place = inner[inner.count / 2]
    file.bytes.insert(contentsOf: file.bytes[place..<place + 188], at: place)
    try file.write()
    try expect(.tsdemuxRepeatedPacket) { try packets(of: "filesrc location=\(file.path) ! tsdemux").count < whole }
  }

  @Test("audio before the first video frame is clipped")
  func earlyAudio() throws {
    let folder = try TemporaryFolder()
    var file = try FileBytes(
      ffmpeg(
        folder, "a.ts",
        "-f lavfi -i testsrc=size=64x48:rate=25:duration=3 -f lavfi -i sine=duration=3:sample_rate=48000",
        "-c:v libx264 -g 25 -c:a aac -f mpegts"))
    let starts = stride(from: 0, to: file.bytes.count, by: 188).filter { file.bytes[$0 + 1] & 0x5F == 0x41 }
    let first = try #require(starts.first)
    // Imitates a recording that started at a video frame: audio that is played before this frame
    // follows the frame in the file.
    let audio = starts.filter { file.bytes[$0 + 2] == 1 }
    let frame = try #require(starts.first { $0 > audio[audio.count / 2] && file.bytes[$0 + 2] == 0 })
    file.bytes.removeSubrange(first..<frame)
    try file.write()
    try expect(.tsdemuxEarlyAudio) {
      try packets(of: "filesrc location=\(file.path) ! tsdemux name=d d. ! audio/mpeg").first?.isShown == false
    }
  }

  @Test("frames are too early after a seek to a position before the first frame")
  func seekTimes() throws {
    let folder = try TemporaryFolder()
    let file = try stream(folder)
    try expect(.tsdemuxSeekTimes) {
      try atFirstBuffer(of: "filesrc location=\(file.path) ! tsdemux ! mpegvideoparse") { _, sink, first in
        let time = try #require(first.streamTime)
        #expect(time > .zero, "the first frame is later than the first clock reference")
        #expect(sink.seek(to: .zero))
        let again = try #require(sink.pull(timeout: ClockTime(seconds: 10))?.streamTime)
        return again < time
      }
    }
  }
}
