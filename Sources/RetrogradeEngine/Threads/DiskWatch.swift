import Containers
package import GStreamer
import Synchronization

/// Detects that a pipeline is waiting for bytes of its file, so that a slow disk is not reported as
/// damage.
package final class DiskWatch: Sendable {
  private let isWaiting = Atomic(false)

  /// Starts to watch `pipeline`. Create this object before the pipeline starts.
  /// - Parameters:
  ///   - path: file that the pipeline's element `source` reads.
  ///   - isOpening: true if the pipeline only finds the streams. A demuxer is then stopped if it
  ///     makes far more requests than the file's size explains, because such a demuxer is in a loop
  ///     (rmdemux for packets of 0 bytes, qtdemux for `mfra`).
  package init(_ pipeline: Pipeline, reading path: String, isOpening: Bool = false) {
    // The pad probes keep this object alive, and the pipeline keeps the pad probes.
    guard let size = RandomAccessFile(path)?.size, let pad = pipeline.element("source")?.staticPad("src") else {
      return
    }
    // A request at the end of the file returns at once, so it does not count as waiting.
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

  /// Notes that an element failed, so its pending read will not complete.
  package func noteFailure() { isWaiting.store(false, ordering: .releasing) }
}
