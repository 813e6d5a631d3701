package import GStreamer
package import MediaTime
import Synchronization

/// One stream of an indexing pass, for the thread that reads the stream.
package struct StreamReader: Sendable {
  package let sink: AppSink
  let tally: StreamTally
  private let priorityGate: PriorityGate?

  package init(_ sink: AppSink, _ tally: StreamTally) { self.init(sink, tally, nil) }

  /// - Parameter priorityGate: gate at which reading waits for urgent work; nil for no gate.
  init(_ sink: AppSink, _ tally: StreamTally, _ priorityGate: PriorityGate?) {
    self.sink = sink
    self.tally = tally
    self.priorityGate = priorityGate
  }

  /// Runs `body`, which reads the stream, and counts the stream as ended or failed.
  package func read<Value>(_ body: (StreamReader) throws -> Value) throws -> Value {
    do {
      let value = try body(self)
      tally.ended.add()
      return value
    } catch {
      tally.failed.add()
      throw error
    }
  }

  /// Returns the next `GstSample`; nil at the end of the stream, or if the pass is over and no
  /// `GstSample` is left.
  package func next() -> Sample? {
    while true {
      priorityGate?.waitForUrgentWork()
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) {
        tally.samples.add()
        return sample
      }
      if sink.isEndOfStream || tally.isOver.isCancelled { return nil }
    }
  }

  /// Notes that the stream has reached `time`, in stream time.
  package func reach(_ time: ClockTime) { tally.latestTime.reach(time) }
}

/// Counters shared by the threads that read the streams of a pass and the thread that watches the
/// pipeline.
package struct StreamTally: Sendable {
  /// Number of `GstSample`s read so far, over all streams.
  package let samples = Counter()
  /// Number of streams that were read to their end.
  package let ended = Counter()
  /// Number of streams whose reading failed.
  package let failed = Counter()
  /// Latest time that any stream has reached, in stream time.
  package let latestTime = LatestTime()
  /// Set when the pass is over. Readers then stop after the last available `GstSample`.
  package let isOver = Cancellation()

  package init() {}
}

/// Latest time that any of several threads has reached.
package final class LatestTime: Sendable {
  private let state = Mutex(ClockTime.zero)

  package var time: ClockTime { state.withLock { $0 } }

  func reach(_ time: ClockTime) { state.withLock { $0 = max($0, time) } }
}

extension IndexingPass.Snapshot {
  /// Creates a snapshot of the readers' state.
  package init(_ tally: StreamTally, _ cancellation: Cancellation) {
    self.init()
    isCancelled = cancellation.isCancelled
    samples = tally.samples.value
    ended = tally.ended.value
    hasReaderFailed = tally.failed.value > 0
  }
}
