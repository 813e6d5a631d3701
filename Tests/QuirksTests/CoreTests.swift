import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of GStreamer's core") struct CoreTests {
  @Test("a source that waits for room does not end")
  func heldSourceEnd() throws {
    try expect(.coreHeldSourceEnd) {
      let pipeline = try Pipeline("fakesrc name=source sizetype=fixed ! appsink name=sink sync=false max-buffers=1")
      defer { pipeline.set(.null) }
      let sink = try pipeline.appSink("sink")
      let given = DispatchSemaphore(value: 0)
      pipeline.element("source")?.staticPad("src")?.watchBuffers { _, _ in given.signal() }
      pipeline.set(.playing)
      // The first one fills the sink, and the second one waits with the source's lock held.
      given.wait()
      given.wait()
      let ended = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        pipeline.endSources()
        ended.signal()
      }
      let isHeld = ended.wait(timeout: .now() + 0.3) == .timedOut
      sink.drain()
      if isHeld { ended.wait() }
      return isHeld
    }
  }

  @Test("a pipeline that gets no thread hangs")
  func threadShortage() throws {
    try expect(.coreThreadShortage) {
      // Their stacks need three times the room that there is, whatever else does: threads have no heaps of their own.
      let queues = Array(repeating: "queue", count: 200).joined(separator: " ! ")
      let ending = try Program.run(
        "/bin/bash",
        [
          "-c",
          "export MALLOC_ARENA_MAX=1; ulimit -v 600000; exec timeout -s KILL 5 "
            + "gst-launch-1.0 -q videotestsrc num-buffers=1 ! \(queues) ! fakesink",
        ])
      try #require(ending.errors.contains("failed to create thread"))
      // Killed at the limit; else it ends by itself, with a status of 1.
      return ending.isCrash || ending.status == 137
    }
  }
}
