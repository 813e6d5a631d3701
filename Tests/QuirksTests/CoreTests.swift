import Foundation
import GStreamer
import MediaTime
import Quirks
import TestSupport
import Testing

@Suite("Quirks of GStreamer's core") struct CoreTests {
  @Test("a source that is blocked by its sink cannot be ended")
  func heldSourceEnd() throws {
    try expect(.coreHeldSourceEnd) {
      let pipeline = try Pipeline("fakesrc name=source sizetype=fixed ! appsink name=sink sync=false max-buffers=1")
      defer { pipeline.set(.null) }
      let sink = try pipeline.appSink("sink")
      let pushed = DispatchSemaphore(value: 0)
      pipeline.element("source")?.staticPad("src")?.watchBuffers { _, _ in pushed.signal() }
      pipeline.set(.playing)
      // The first buffer fills the sink. The source blocks when it pushes the second buffer, and
      // keeps its stream lock.
      pushed.wait()
      pushed.wait()
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

  @Test("a pipeline hangs if no thread can be created")
  func threadShortage() throws {
    try expect(.coreThreadShortage) {
      // The threads' stacks need three times the limit on address space. MALLOC_ARENA_MAX prevents
      // a heap for each thread.
      let queues = Array(repeating: "queue", count: 200).joined(separator: " ! ")
      let ending = try Program.run(
        "/bin/bash",
        [
          "-c",
          "export MALLOC_ARENA_MAX=1; ulimit -v 600000; exec timeout -s KILL 5 "
            + "gst-launch-1.0 -q videotestsrc num-buffers=1 ! \(queues) ! fakesink",
        ])
      try #require(ending.errors.contains("failed to create thread"))
      // After 5 s, `timeout` kills a process that hangs; the status is then 137. A process that
      // neither hangs nor crashes ends with status 1.
      return ending.isCrash || ending.status == 137
    }
  }
}
