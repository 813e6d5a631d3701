import Containers
package import GStreamer
import Synchronization

/// Whether a pipeline waits for the bytes of its file: a disk that takes its time is no damage.
package final class DiskWatch: Sendable {
  private let isWaiting = Atomic(false)

  /// To be made before the pipeline starts.
  /// - Parameter path: the file that the pipeline's element `source` reads.
  package init(_ pipeline: Pipeline, reading path: String) {
    // The probes hold the watch, and the pipeline the probes.
    guard let size = RandomAccessFile(path)?.size, let pad = pipeline.element("source")?.staticPad("src") else {
      return
    }
    // At the end of the file there is nothing to wait for.
    pad.onPull { [self] offset, _ in isWaiting.store(offset < size, ordering: .releasing) }
    pad.onBuffer { [self] _ in
      isWaiting.store(false, ordering: .releasing)
      return nil
    }
  }

  package var isReading: Bool { isWaiting.load(ordering: .acquiring) }

  /// An element failed: the bytes that it was reading do not come.
  package func noteFailure() { isWaiting.store(false, ordering: .releasing) }
}
