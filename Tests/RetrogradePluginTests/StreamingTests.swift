import CGStreamer
import GStreamer
import Testing

@testable import RetrogradeEngine

/// `Pipeline.isStreaming`, which is true while data may still arrive.
@Suite(.timeLimit(.minutes(10))) struct StreamingTests {
  private final class Gate: Sendable {
    let reached = Handoff<Void>()
    let opened = Handoff<Void>()
  }

  /// The streaming task is already paused when its thread delivers the end of the stream, so the
  /// state of the task alone would not show that the thread is running.
  @Test("a thread that delivers the end of the stream counts as running")
  func endOfStreamThread() throws {
    let pipeline = try Pipeline("videotestsrc num-buffers=1 ! fakesink name=sink sync=false")
    let gate = Gate()
    gst_pad_add_probe(
      try pipeline.pad("sink", "sink"), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, data in
        guard let data, let event = info.flatMap({ gst_pad_probe_info_get_event($0) }) else { return GST_PAD_PROBE_OK }
        let gate = Unmanaged<Gate>.fromOpaque(data).takeUnretainedValue()
        if event.pointee.type == GST_EVENT_EOS, gate.reached.give(()) { _ = try? gate.opened.take() }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(gate).toOpaque()
    ) { data in
      if let data { Unmanaged<Gate>.fromOpaque(data).release() }
    }
    pipeline.set(.playing)
    _ = try gate.reached.take()
    #expect(pipeline.isStreaming)
    gate.opened.close()
    pipeline.set(.null)
    #expect(!pipeline.isStreaming)
  }
}
