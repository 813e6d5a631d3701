import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of avidemux") struct AVIDemuxTests {
  @Test("in video with B-frames, timestamps stall or go back at keyframes")
  func keyframeTimes() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(
      folder, "a.avi", "-f lavfi -i testsrc=size=64x48:rate=10:duration=2", "-c:v mpeg4 -bf 2 -g 5")
    try expect(.avidemuxKeyframeTimes) {
      let times = try packets(of: "filesrc location=\(path) ! avidemux ! avdec_mpeg4").compactMap(\.buffer.pts)
      return zip(times, times.dropFirst()).contains { $0 >= $1 }
    }
  }

  @Test("the pixel aspect ratio of top-down frames is negative")
  func pixelAspect() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.avi", tenFrames, "-vf setsar=2/1 -c:v rawvideo -pix_fmt bgr24")
    try expect(.avidemuxPixelAspect) {
      let caps = try packets(of: "filesrc location=\(path) ! avidemux").first?.caps
      return try #require(caps?.fraction("pixel-aspect-ratio")).numerator < 0
    }
  }

  @Test("a stream without packets causes a critical warning")
  func emptyStream() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.avi")
    let whole = try launch([
      "videotestsrc", "num-buffers=10", "!", "video/x-raw,width=64,height=48,framerate=25/1", "!", "jpegenc", "!",
      "avimux", "name=m", "!", "filesink", "location=\(path)",
      "audiotestsrc", "num-buffers=10", "!", "audio/x-raw,channels=1", "!", "m.",
    ])
    try #require(whole.status == 0, "\(whole.errors)")
    var file = try FileBytes(path)
    // Truncates the file before the first packet of the stream that starts later. The headers still
    // declare both streams.
    let packets = try #require(file.bytes.ranges(of: Array("movi".utf8)).first).upperBound
    let first = ["00db", "01wb"].compactMap { name in
      file.bytes.ranges(of: Array(name.utf8)).map(\.lowerBound).first { $0 >= packets }
    }
    try #require(first.count == 2)
    file.bytes.removeSubrange(max(first[0], first[1])...)
    try file.write()
    try expect(.avidemuxEmptyStream) {
      let ending = try launch(
        ["filesrc", "location=\(path)", "!", "avidemux", "name=d", "d.", "!", "fakesink"],
        environment: ["G_DEBUG": "fatal-criticals"])
      return ending.isCrash && ending.errors.contains("pad != NULL")
    }
  }
}
