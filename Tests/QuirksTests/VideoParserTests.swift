import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of video parsers") struct VideoParserTests {
  @Test("mpeg4videoparse splits packets of two frames")
  func packedFrames() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.avi", tenFrames, "-c:v mpeg4 -bf 2 -sc_threshold 1000000000")
    var frames = try DecodedMedia.buffers(of: "filesrc location=\(path) ! avidemux")
    // Joins two frames in one packet: a frame and the first B-frame that depends on this frame.
    frames[1] += frames.remove(at: 2)
    let caps = "video/mpeg,mpegversion=4,systemstream=false,width=64,height=48,framerate=10/1"
    try expect(.mpeg4videoparsePackedFrames) {
      let parsed = try packets(of: "appsrc name=in format=time ! mpeg4videoparse") { pipeline in
        guard let source = try? pipeline.appSource("in"), let caps = Caps(caps) else { return }
        source.setCaps(caps)
        pipeline.set(.playing)
        for (number, bytes) in frames.enumerated() {
          guard let buffer = try? Buffer(size: bytes.count, fill: { $0.copyBytes(from: bytes) }) else { return }
          buffer.stamp(pts: ClockTime(sampleIndex: number, rate: 10), duration: ClockTime(sampleIndex: 1, rate: 10))
          _ = source.push(buffer)
        }
        source.endOfStream()
      }
      return parsed.count > frames.count
    }
  }

  @Test("parsebin skips jpegparse and outputs a JPEG file in pieces")
  func jpegRank() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.jpg", "-f lavfi -i testsrc=size=640x480", "-frames:v 1")
    try expect(.jpegparseRank) { try packets(of: "filesrc location=\(path) ! parsebin").count > 1 }
  }

  @Test("vp9parse loops forever on caps that it shares with other objects")
  func transparentVP9() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.webm", tenFrames, "-c:v libvpx-vp9 -pix_fmt yuva420p")
    try expect(.vp9parseAlpha) {
      // G_DEBUG ends the process at the first critical warning. Without G_DEBUG, the process would
      // not end.
      try launch(
        ["filesrc", "location=\(path)", "!", "matroskademux", "!", "vp9parse", "!", "appsink", "wait-on-eos=false"],
        environment: ["G_DEBUG": "fatal-criticals"]
      ).isCrash
    }
  }

  @Test("parsebin outputs BMP and TIFF in pieces")
  func wholeImages() throws {
    let folder = try TemporaryFolder()
    try expect(.parsebinWholeImages) {
      try ["bmp", "tiff"].allSatisfy { kind in
        let path = try ffmpeg(folder, "a.\(kind)", "-f lavfi -i testsrc=size=640x480", "-frames:v 1")
        return try packets(of: "filesrc location=\(path) ! parsebin").count > 1
      }
    }
  }

  @Test("jpeg2000parse removes the boxes around a codestream")
  func jpeg2000Box() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mov", tenFrames, "-c:v jpeg2000 -pix_fmt rgb24")
    try expect(.jpeg2000parseBox) {
      let boxed = try packets(of: "filesrc location=\(path) ! qtdemux").first?.buffer.size ?? 0
      return try #require(packets(of: "filesrc location=\(path) ! qtdemux ! jpeg2000parse").first?.buffer.size) < boxed
    }
  }

  @Test("h264parse drops the packet durations of variable-rate video")
  func durations() throws {
    try expect(.h264parseDurations) {
      let packets = try variableRatePackets("x264enc speed-preset=ultrafast ! h264parse")
      try #require(packets.count == 30)
      return Set(packets.map(\.duration)) != [.milliseconds(40), .milliseconds(360)]
    }
  }

  @Test("h264parse does not report the real frame rate of evenly spaced variable-rate frames")
  func timeBase() throws {
    try expect(.h264parseTimeBase) {
      let caps = try caps(
        of: """
          videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=64,height=64,framerate=25/1 !
          capssetter caps=video/x-raw,framerate=0/1 ! x264enc ! video/x-h264,stream-format=byte-stream !
          capssetter replace=true caps=video/x-h264,stream-format=byte-stream,alignment=au ! h264parse
          """)
      let rate = try #require(caps.fraction("framerate"))
      return rate != (25, 1)
    }
  }

  @Test("h264parse inserts parameter sets into the first packet of AVC")
  func parameterSets() throws {
    let folder = try TemporaryFolder()
    let path = try ffmpeg(folder, "a.mp4", tenFrames, "-c:v libx264 -pix_fmt yuv420p")
    try expect(.h264parseParameterSets) {
      let size = try packets(of: "filesrc location=\(path) ! qtdemux").first?.buffer.size ?? 0
      return try atFirstBuffer(of: "filesrc location=\(path) ! qtdemux ! h264parse") { _, sink, first in
        #expect(sink.seek(to: .zero))
        let second = try #require(sink.pull(timeout: ClockTime(seconds: 5)))
        return first.buffer.size > size || second.buffer.size > size
      }
    }
  }

  @Test("h264parse takes colorimetry from the container, not from the stream")
  func colorsOfH264() throws {
    try expect(.h264parseContainerColors) { try colors("libx264", "h264parse") == "bt2100-pq" }
  }

  @Test("h265parse takes colorimetry from the container, not from the stream")
  func colorsOfH265() throws {
    try expect(.h265parseContainerColors) {
      try colors("libx265 -x265-params log-level=none -tag:v hvc1", "h265parse") == "bt2100-pq"
    }
  }

  /// Returns the colorimetry that a parser reports for a BT.709 stream in a container that declares
  /// BT.2100.
  private func colors(_ encoder: String, _ parser: String) throws -> String? {
    let folder = try TemporaryFolder()
    var file = try FileBytes(
      ffmpeg(
        folder, "a.mp4", tenFrames, "-pix_fmt yuv420p -c:v \(encoder)",
        "-color_range tv -color_primaries bt709 -color_trc bt709 -colorspace bt709 -movflags write_colr"))
    let place = try file.end(of: "nclx")
    file.bytes.replaceSubrange(place..<place + 6, with: [0, 9, 0, 16, 0, 9])
    try file.write()
    return try packets(of: "filesrc location=\(file.path) ! qtdemux ! \(parser)").first?.caps?.string("colorimetry")
  }
}
