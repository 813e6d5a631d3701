import Containers
package import GStreamer
import Synchronization

/// Whether a pipeline waits for the bytes of its file: a disk that takes its time is no damage.
package final class DiskWatch: Sendable {
  private let isWaiting = Atomic(false)

  /// To be made before the pipeline starts.
  /// - Parameters:
  ///   - path: the file that the pipeline's element `source` reads.
  ///   - isOpening: true if the pipeline only finds the streams. Then a demuxer that asks for bytes far more often
  ///     than the file has any is in a loop, and gets no more (rmdemux for packets of 0 bytes, qtdemux for `mfra`).
  package init(_ pipeline: Pipeline, reading path: String, isOpening: Bool = false) {
    // The probes hold the watch, and the pipeline the probes.
    guard let size = RandomAccessFile(path)?.size, let pad = pipeline.element("source")?.staticPad("src") else {
      return
    }
    // At the end of the file there is nothing to wait for.
    let (asked, most) = (Counter(), isOpening ? 100_000 + size / 4 : Int.max)
    pad.onPull { [self] offset, pad in
      let isLooping = asked.add() > most
      isWaiting.store(!isLooping && offset < size, ordering: .releasing)
      if isLooping { pad.stop() }
    }
    pad.onBuffer { [self] _ in
      isWaiting.store(false, ordering: .releasing)
      return nil
    }
  }

  package var isReading: Bool { isWaiting.load(ordering: .acquiring) }

  /// An element failed: the bytes that it was reading do not come.
  package func noteFailure() { isWaiting.store(false, ordering: .releasing) }
}
