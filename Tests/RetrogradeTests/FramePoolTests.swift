import GStreamer
import MediaTime
import Testing

/// Frames that are held while those after them are predicted from them, in memory that the decoder shares.
@Suite struct FramePoolTests {
  private static let codecs = [
    "x264enc bframes=3 b-pyramid=true speed-preset=ultrafast ! h264parse ! avdec_h264",
    "x265enc speed-preset=ultrafast ! h265parse ! avdec_h265",
    // These decode a frame into the one before it.
    "avenc_qtrle ! avdec_qtrle", "avenc_cinepak ! avdec_cinepak", "avenc_flashsv ! avdec_flashsv",
    "avenc_zmbv ! avdec_zmbv",
  ]

  @Test(arguments: codecs)
  func heldFramesStayAsTheyWere(_ codec: String) throws {
    let plain = try FramePoolTests.frames(codec, isPooled: false)
    let pooled = try FramePoolTests.frames(codec, isPooled: true)
    #expect(plain.count == 40)
    #expect(pooled == plain)
  }

  /// The pixels of all frames, read when the last has come.
  private static func frames(_ codec: String, isPooled: Bool) throws -> [[UInt8]] {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=40 pattern=ball ! video/x-raw,width=320,height=180 ! videoconvert ! \(codec) ! "
        + "video/x-raw ! appsink name=out sync=false")
    let sink = try pipeline.appSink("out")
    if isPooled { sink.pad?.acceptFramesAnywhere() }
    pipeline.set(.playing)
    defer { pipeline.set(.null) }
    var held: [Sample] = []
    while let sample = sink.pull(timeout: ClockTime(seconds: 30)) { held.append(sample) }
    return try held.map { sample in
      let caps = try #require(sample.caps)
      return try sample.buffer.inSystemMemory(caps).withBytes { Array($0) }
    }
  }
}
