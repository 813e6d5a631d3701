import CGStreamer
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of video encoders") struct VideoEncoderTests {
  private static let noise = "videotestsrc num-buffers=40 pattern=snow ! video/x-raw,format=I420,width=64,height=48"

  @Test("vp9enc loses frames of its lookahead")
  func lag() throws {
    try expect(.vp9encLag) {
      try samples(of: "\(Self.noise) ! vp9enc deadline=1 lag-in-frames=25 target-bitrate=2000000").count < 40
    }
  }

  @Test("vp9enc's realtime speed 4 is the same as 5")
  func realTimeSpeed() throws {
    let packets = try [4, 5].map { speed in
      try samples(of: "\(Self.noise) ! vp9enc deadline=1 cpu-used=\(speed) target-bitrate=2000000").map {
        try $0.buffer.withBytes { Array($0) }
      }
    }
    try expect(.vp9encRealTimeSpeed) { packets[0] == packets[1] }
  }

  @Test(
    "y4menc refuses chroma sites that have no Y4M tag",
    arguments: [("Y42B", "mpeg2"), ("Y444", "mpeg2"), ("I420", "cosited")])
  func chromaSite(format: String, site: String) throws {
    let frame = "videotestsrc num-buffers=1 ! video/x-raw,width=64,height=48,format=\(format)"
    #expect(!fails("\(frame),chroma-site=none ! y4menc"))
    try expect(.y4mencChromaSite) { fails("\(frame),chroma-site=\(site) ! y4menc") }
  }

  @Test("the chroma site is lost without colorimetry")
  func chromaSiteAlone() throws {
    func site(_ caps: String) throws -> String? {
      try samples(of: "videotestsrc num-buffers=1 ! \(caps),chroma-site=mpeg2 ! x264enc ! h264parse ! avdec_h264")
        .first?.caps?.string("chroma-site")
    }
    let caps = "video/x-raw,format=I420,width=64,height=48"
    try expect(.videoInfoChromaSite) { try site(caps) != site("\(caps),colorimetry=bt601") }
  }

  @Test("vp9enc does not declare the matrix of HDR video")
  func matrix() throws {
    try expect(.vp9encMatrix) {
      let packet = try bytes(
        of: "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48,colorimetry=bt2100-pq ! "
          + "vp9enc deadline=1 cpu-used=8")
      // color_space, after the frame's first byte and the sync code (VP9 specification, 6.2).
      return packet[4] >> 5 == 0
    }
  }

  @Test("x265enc writes its header twice")
  func header() throws {
    let caps = "video/x-raw,format=I420_10LE,width=64,height=48,content-light-level=(string)1000:400"
    let first = try #require(try samples(of: "videotestsrc num-buffers=1 ! \(caps) ! x265enc").first?.buffer)
    try expect(.x265encHeader) { gst_buffer_n_memory(first.raw) > 1 }
    let parameterSet: [UInt8] = [0, 0, 1, 0x40]
    #expect(try (first.withLastMemory() ?? first).withBytes { $0.ranges(of: parameterSet).count } == 1)
  }

  @Test("x265enc does not set the DTS of a single frame")
  func fewFrames() throws {
    try expect(.x265encFewFrames) {
      let ending = try launch(
        ["videotestsrc", "num-buffers=1", "!", "x265enc", "!", "fakesink"],
        environment: ["MALLOC_PERTURB_": "190", "GST_DEBUG": "x265enc:6", "GST_DEBUG_NO_COLOR": "1"])
      let times = try #require(ending.errors.firstMatch(of: /output: dts (-?\d+) pts (\d+)/), "\(ending.errors)")
      return times.1 != times.2
    }
  }

  @Test("y4menc writes row padding")
  func layout() throws {
    let caps = "video/x-raw,format=(string)Y444,width=16,height=16,framerate=(fraction)25/1"
    let pipeline = try Pipeline("appsrc name=in caps=\"\(caps)\" format=time ! y4menc ! appsink name=sink sync=false")
    // Rows of 24 bytes: 16 pixels and padding.
    let frame = try Buffer(size: 3 * 24 * 16) { bytes in
      for index in bytes.indices { bytes[index] = index % 24 < 16 ? 50 : 99 }
    }
    var offsets: [gsize] = [0, 24 * 16, 2 * 24 * 16, 0]
    var strides: [gint] = [24, 24, 24, 0]
    gst_buffer_add_video_meta_full(
      frame.raw, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_Y444, 16, 16, 3, &offsets, &strides)
    frame.stamp(pts: .zero, duration: .milliseconds(40))
    let source = try pipeline.appSource("in")
    _ = source.push(frame)
    source.endOfStream()
    let written = try samples(of: pipeline).flatMap { try $0.buffer.withBytes { Array($0) } }
    #expect(written.contains(50))
    try expect(.y4mencLayout) { written.contains(99) }
  }

  @Test("y4menc ignores the field order in the caps")
  func fieldOrder() throws {
    try expect(.y4mencFieldOrder) {
      let file = try bytes(
        of: "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=48,framerate=25/1,chroma-site=none,"
          + "interlace-mode=interleaved,field-order=top-field-first ! y4menc")
      return String(decoding: file.prefix(60), as: UTF8.self).contains(" Ib ")
    }
  }

  @Test("av1enc exceeds its bit rate unless max-quantizer is set")
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

  @Test("x264enc limits the bit rate of constant-quality encoding")
  func bufferInConstantQuality() throws {
    try expect(.x264encBufferInConstantQuality) {
      func size(_ setting: String) throws -> Int {
        try bytes(of: "\(Self.noise) ! x264enc pass=qual quantizer=20 bitrate=10 \(setting)").count
      }
      return try size("vbv-buf-capacity=0") > 2 * size("")
    }
  }

  @Test("x264enc accepts odd sizes, then fails")
  func oddSize() throws {
    try expect(.x264encOddSize) {
      let (width, height) = ("width=33", "height=33")
      let caps = try #require(Caps("video/x-raw,format=I420,framerate=30/1,width=33,height=33"))
      #expect(Registry.factory("x264enc", takes: caps))
      return fails("videotestsrc num-buffers=1 ! video/x-raw,format=I420,\(width),\(height) ! x264enc")
    }
  }

  @Test("x264enc accepts frames over 16,384 pixels wide, then fails")
  func largestSize() throws {
    try expect(.x264encLargestSize) {
      let caps = try #require(Caps("video/x-raw,format=I420,framerate=30/1,width=16386,height=16"))
      #expect(Registry.factory("x264enc", takes: caps))
      return fails("videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=16386,height=16 ! x264enc")
    }
  }

  @Test("x264enc's timestamps start at a thousand hours")
  func lateSegment() throws {
    try expect(.x264encLateSegment) {
      let first = try #require(samples(of: "\(Self.noise) ! x264enc").first)
      #expect(first.streamTime == .zero)
      return try #require(first.buffer.pts) >= ClockTime(seconds: 3_600_000)
    }
  }
}
