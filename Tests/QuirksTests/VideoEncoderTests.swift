import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of encoders of video") struct VideoEncoderTests {
  private static let noise = "videotestsrc num-buffers=40 pattern=snow ! video/x-raw,format=I420,width=64,height=48"

  @Test("vp9enc loses frames that it holds back")
  func lag() throws {
    try expect(.vp9encLag) {
      try samples(of: "\(Self.noise) ! vp9enc deadline=1 lag-in-frames=25 target-bitrate=2000000").count < 40
    }
  }

  @Test(
    "y4menc refuses chroma sites without a tag",
    arguments: [("Y42B", "mpeg2"), ("Y444", "mpeg2"), ("I420", "cosited")])
  func chromaSite(format: String, site: String) throws {
    let frame = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48,format=\(format)"
    #expect(!fails("\(frame),chroma-site=none ! y4menc"))
    try expect(.y4mencChromaSite) { fails("\(frame),chroma-site=\(site) ! y4menc") }
  }

  @Test("av1enc exceeds its rate unless max-quantizer is set")
  func maxQuantizer() throws {
    try expect(.av1encMaxQuantizer) {
      func size(_ setting: String) throws -> Int {
        try bytes(
          of: """
            videotestsrc num-buffers=10 pattern=snow ! video/x-raw,width=64,height=48 !
            av1enc cpu-used=8 target-bitrate=100 \(setting)
            """
        ).count
      }
      return try size("") > 2 * size("max-quantizer=63")
    }
  }

  @Test("x264enc limits the rate of a constant quality")
  func bufferInConstantQuality() throws {
    try expect(.x264encBufferInConstantQuality) {
      func size(_ setting: String) throws -> Int {
        try bytes(of: "\(Self.noise) ! x264enc pass=qual quantizer=20 bitrate=10 \(setting)").count
      }
      return try size("vbv-buf-capacity=0") > 2 * size("")
    }
  }

  @Test("x264enc takes odd sizes, and fails")
  func oddSize() throws {
    try expect(.x264encOddSize) {
      let (width, height) = ("width=33", "height=33")
      let caps = try #require(Caps("video/x-raw,format=I420,framerate=30/1,width=33,height=33"))
      #expect(Registry.factory("x264enc", takes: caps))
      return fails("videotestsrc num-buffers=1 ! video/x-raw,format=I420,\(width),\(height) ! x264enc")
    }
  }

  @Test("x264enc takes frames over 16,384 pixels wide, and fails")
  func largestSize() throws {
    try expect(.x264encLargestSize) {
      let caps = try #require(Caps("video/x-raw,format=I420,framerate=30/1,width=16386,height=16"))
      #expect(Registry.factory("x264enc", takes: caps))
      return fails("videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=16386,height=16 ! x264enc")
    }
  }

  @Test("x264enc's timestamps begin at a thousand hours")
  func lateSegment() throws {
    try expect(.x264encLateSegment) {
      let first = try #require(samples(of: "\(Self.noise) ! x264enc").first)
      #expect(first.streamTime == .zero)
      return try #require(first.buffer.pts) >= ClockTime(seconds: 3_600_000)
    }
  }
}
