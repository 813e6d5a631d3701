import CGStreamer
import GStreamer
import MediaTime
import Synchronization
import Testing

/// Reference counts of buffers, and lifetimes of captured objects.
@Suite struct ReferenceTests {
  private func count(_ object: UnsafeMutableRawPointer) -> Int {
    Int(object.assumingMemoryBound(to: GstMiniObject.self).pointee.refcount)
  }

  private func memory(_ buffer: Buffer) throws -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(try #require(gst_buffer_peek_memory(buffer.raw, 0)))
  }

  /// To draw the overlay, `Buffer.blending` makes an overlay composition, which refers to the
  /// overlay's memory. The composition must be released after the drawing.
  @Test("drawing over a frame keeps neither the frame nor the overlay")
  func drawing() throws {
    let caps = try #require(Caps("video/x-raw,format=I420,width=64,height=32,framerate=25/1"))
    let frame = try Buffer(size: 64 * 32 * 3 / 2) { $0.initializeMemory(as: UInt8.self, repeating: 16) }
    let overlay = try Buffer.frame(width: 64, height: 32)
    try overlay.withMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 255) }
    for rows in [0..<32, 8..<9, 0..<0, 8..<64] {
      for _ in 0..<3 { _ = try frame.blending(overlay, rows: rows, caps: caps) }
      for buffer in [frame, overlay] {
        #expect(count(UnsafeMutableRawPointer(buffer.raw)) == 1)
        #expect(count(try memory(buffer)) == 1)
      }
    }
    let drawn = try frame.blending(overlay, rows: 0..<32, caps: caps)
    #expect(try frame.withBytes { $0.allSatisfy { $0 == 16 } }, "the frame itself stays as it is")
    #expect(try drawn.withBytes { $0[0] } > 200)
    #expect(count(try memory(drawn)) == 1)
  }

  /// Objects captured by a probe are released with the pad, even if the probe uses the pad.
  @Test("a pad releases its probes", arguments: [false, true])
  func probeCaptures(drops: Bool) throws {
    final class Held: Sendable {
      let sizes = Mutex<[Int]>([])
    }
    weak var kept: Held?
    do {
      // `Pipeline.set` waits for the change to PLAYING only with an appsink. Another sink may still
      // be finishing the change to PAUSED. GStreamer would then continue in another thread, and
      // keep the pipeline alive after this test.
      let pipeline = try Pipeline("fakesrc num-buffers=2 sizetype=fixed sizemax=10 ! appsink name=s async=false")
      let held = Held()
      kept = held
      let pad = try #require(pipeline.element("s")?.staticPad("sink"))
      let body: @Sendable (Buffer, Pad) -> Void = { buffer, pad in
        held.sizes.withLock { $0.append(buffer.size + pad.name.count) }
      }
      if drops { pad.dropBuffers(body) } else { pad.watchBuffers(body) }
      pipeline.set(.playing)
      let sink = try pipeline.appSink("s")
      while sink.pull(timeout: ClockTime(seconds: 20)) != nil {}
      #expect(held.sizes.withLock { $0 } == [14, 14])
      pipeline.set(.null)
    }
    #expect(kept == nil)
  }
}
