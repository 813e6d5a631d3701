import Containers
package import GStreamer
import Synchronization

/// Tells a pipeline that takes its time from one that makes no progress: a disk that is slow, or a decoder on its way from a
/// keyframe to what was asked for, is no damage.
package final class PipelineWatch: Sendable {
  private struct State {
    var isReading = false
    /// Buffers that went into elements.
    var count = 0
    var seen = 0
    /// In nanoseconds.
    var idle = 0
  }
  private let state = Mutex(State())

  /// - Parameters:
  ///   - path: what the pipeline's element `source` reads.
  ///   - sink: the elements that lead to it, as far as they are linked, are watched too.
  package init(_ pipeline: Pipeline, reading path: String, before sink: Element? = nil) {
    // The probes hold the watch, and the pipeline the probes.
    if let size = RandomAccessFile(path)?.size, let pad = pipeline.element("source")?.staticPad("src") {
      // At the end of the file there is nothing to wait for.
      pad.onPull { [self] offset in state.withLock { $0.isReading = offset < size } }
      pad.onBuffer { [self] _ in
        state.withLock { $0.isReading = false }
        return nil
      }
    }
    for element in sink?.upstream.dropFirst() ?? [] {
      element.staticPad("sink")?.onBuffer { [self] _ in
        state.withLock { $0.count += 1 }
        return nil
      }
    }
  }

  /// Whether the source waits for the file's bytes.
  package var isReading: Bool { state.withLock { $0.isReading } }

  /// Adds `step` to the time in which nothing has moved, and returns it, in nanoseconds.
  package func idle(_ step: Int) -> Int {
    state.withLock { state in
      state.idle = state.isReading || state.count != state.seen ? 0 : state.idle + step
      state.seen = state.count
      return state.idle
    }
  }

  /// An element failed: what it was reading does not come.
  package func noteFailure() { state.withLock { $0.isReading = false } }

  /// What was waited for has come.
  package func reset() { state.withLock { $0.idle = 0 } }
}
