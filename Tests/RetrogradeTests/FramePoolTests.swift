import CGStreamer
import MediaTime
import Synchronization
import Testing

@testable import GStreamer

/// Frames that are kept in the decoder's memory, without a copy, while the decoder predicts later
/// frames from them.
@Suite struct FramePoolTests {
  private static let codecs = [
    "x264enc bframes=3 b-pyramid=true speed-preset=ultrafast ! h264parse ! avdec_h264",
    "x265enc speed-preset=ultrafast ! h265parse ! avdec_h265",
    // These decoders write each frame into the memory of the previous one.
    "avenc_qtrle ! avdec_qtrle", "avenc_cinepak ! avdec_cinepak", "avenc_flashsv ! avdec_flashsv",
    "avenc_zmbv ! avdec_zmbv",
  ]

  @Test("frames that are kept in the decoder's memory do not change", arguments: codecs)
  func heldFrames(_ codec: String) throws {
    let plain = try FramePoolTests.frames(codec, isPooled: false)
    let pooled = try FramePoolTests.frames(codec, isPooled: true)
    #expect(plain.count == 40)
    #expect(pooled == plain)
  }

  /// gst-libav drops the pool if coded and displayed width differ: here, 432 and 426 pixels. The
  /// decoder must then not ask for a pool again and again.
  @Test("frames are correct if the decoder drops the offered pool")
  func oddWidth() throws {
    let codec = FramePoolTests.codecs[0]
    let plain = try FramePoolTests.frames(codec, width: 426, count: 200, isPooled: false)
    let queries = Counter()
    let pooled = try FramePoolTests.frames(codec, width: 426, count: 200, isPooled: true, queries)
    #expect(pooled == plain)
    #expect((1...3).contains(queries.count))
  }

  /// Thread-safe counter of the allocation queries that reach a pad.
  private final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
  }

  /// Returns the pixels of all frames. The pixels are read only after the last frame has arrived,
  /// so that overwritten frames are noticed.
  private static func frames(
    _ codec: String, width: Int = 320, count: Int = 40, isPooled: Bool, _ queries: Counter? = nil
  ) throws -> [[UInt8]] {
    let pipeline = try Pipeline(
      "videotestsrc num-buffers=\(count) pattern=ball ! video/x-raw,width=\(width),height=180 ! videoconvert ! \(codec) ! "
        + "video/x-raw ! appsink name=out sync=false")
    let sink = try pipeline.appSink("out")
    if let queries { sink.pad?.onAllocationQuery(queries.add) }
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

extension Pad {
  /// Calls `body` for each allocation query that reaches this pad.
  fileprivate func onAllocationQuery(_ body: @escaping @Sendable () -> Void) {
    addProbe(GstPadProbeType(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PUSH.rawValue)) {
      _, info in
      let query = info.pointee.data?.assumingMemoryBound(to: GstQuery.self)
      if query?.pointee.type == GST_QUERY_ALLOCATION { body() }
      return GST_PAD_PROBE_OK
    }
  }
}
