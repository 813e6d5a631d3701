import CGStreamer
import MediaTime
import Testing

@testable import GStreamer
@testable import RetrogradeEngine

@Suite struct DecodedWindowTests {
  /// Creates a pool of 16-byte buffers.
  /// - Parameter count: maximum number of buffers; 0 for no limit.
  private func pool(limit count: guint) throws -> UnsafeMutablePointer<GstBufferPool> {
    try GStreamer.initialize()
    let pool = try #require(gst_buffer_pool_new())
    let configuration = gst_buffer_pool_get_config(pool)
    gst_buffer_pool_config_set_params(configuration, nil, 16, 0, count)
    #expect(gst_buffer_pool_set_config(pool, configuration) != 0)
    gst_buffer_pool_set_active(pool, 1)
    return pool
  }

  private func close(_ pool: UnsafeMutablePointer<GstBufferPool>) {
    gst_buffer_pool_set_active(pool, 0)
    gst_object_unref(UnsafeMutableRawPointer(pool))
  }

  /// A hardware decoder has few frame buffers, and blocks until a buffer is free. `DecodedWindow`
  /// must therefore not keep them.
  @Test("frames of a small pool are copied")
  func smallPool() throws {
    let pool = try pool(limit: 2)
    defer { close(pool) }
    let window = DecodedWindow(spool: nil, gauge: MemoryGauge())
    var parameters = GstBufferPoolAcquireParams()
    parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
    for number in 0..<5 {
      var raw: UnsafeMutablePointer<GstBuffer>?
      #expect(gst_buffer_pool_acquire_buffer(pool, &raw, &parameters) == GST_FLOW_OK)
      let frame = Buffer(adopting: try #require(raw))
      try frame.withMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(number)) }
      window.push(frame)
    }
    for number in (0..<5).reversed() {
      #expect(try window.pop()?.withBytes { Array($0) } == Array(repeating: UInt8(number), count: 16))
    }
  }

  /// A buffer pool discards a returned buffer whose memory is shared (gstbufferpool.c), so retiming
  /// must not share the memory.
  @Test("a retimed frame returns to its pool")
  func retimedFrame() throws {
    let pool = try pool(limit: 0)
    defer { close(pool) }
    var seen: Set<UnsafeMutablePointer<GstBuffer>> = []
    for number in 0..<5 {
      var raw: UnsafeMutablePointer<GstBuffer>?
      #expect(gst_buffer_pool_acquire_buffer(pool, &raw, nil) == GST_FLOW_OK)
      seen.insert(try #require(raw))
      let window = DecodedWindow(spool: nil, gauge: MemoryGauge())
      window.push(Buffer(adopting: try #require(raw)))
      var frame = try #require(try window.pop())
      Buffer.retime(&frame, pts: .zero, duration: ClockTime(seconds: Double(number)), isMirrored: true)
    }
    #expect(seen.count == 1)
  }

  @Test("a shared frame is copied before it is retimed")
  func sharedFrame() throws {
    let shared = try Buffer(size: 4) { $0.copyBytes(from: [1, 2, 3, 4]) }
    shared.stamp(pts: ClockTime(seconds: 7), duration: .zero)
    var own = shared
    Buffer.retime(&own, pts: .zero, duration: .zero, isMirrored: false)
    #expect(shared.pts == ClockTime(seconds: 7) && own.pts == .zero)
  }
}
