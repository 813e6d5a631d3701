package import GStreamer
package import MediaTime
import Synchronization

/// One stream of an indexing pass, for the thread that reads it.
package struct StreamReader: Sendable {
  package let sink: AppSink
  let tally: StreamTally
  private let rightOfWay: RightOfWay?

  package init(_ sink: AppSink, _ tally: StreamTally) { self.init(sink, tally, nil) }

  /// - Parameter rightOfWay: the priority of other work over reading, if there is any.
  init(_ sink: AppSink, _ tally: StreamTally, _ rightOfWay: RightOfWay?) {
    self.sink = sink
    self.tally = tally
    self.rightOfWay = rightOfWay
  }

  /// Runs `body`, which reads the stream, and counts how it ended.
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

  /// The next sample; nil at the end of the stream, or when the pass is over and nothing is left.
  package func next() -> Sample? {
    while true {
      rightOfWay?.give()
      if let sample = sink.pull(timeout: ClockTime(nanoseconds: 100_000_000)) {
        tally.samples.add()
        return sample
      }
      if sink.isEndOfStream || tally.isOver.isCancelled { return nil }
    }
  }

  /// The stream has come to `time`, in stream time.
  package func reach(_ time: ClockTime) { tally.furthest.reach(time) }
}

/// Counters shared by the threads that read the streams of a pass and the one that watches the pipeline.
package struct StreamTally: Sendable {
  /// Samples that came, of all streams.
  package let samples = Counter()
  /// Streams that were read to their end.
  package let ended = Counter()
  /// Streams that could not be read to their end.
  package let failed = Counter()
  /// How far the streams have come.
  package let furthest = Furthest()
  /// Tells the readers that nothing more is waited for.
  package let isOver = Cancellation()

  package init() {}
}

/// The furthest of the times that several threads come to.
package final class Furthest: Sendable {
  private let state = Mutex(ClockTime.zero)

  package var time: ClockTime { state.withLock { $0 } }

  func reach(_ time: ClockTime) { state.withLock { $0 = max($0, time) } }
}

extension IndexingPass.Sight {
  /// State of the readers.
  package init(_ tally: StreamTally, _ cancellation: Cancellation) {
    self.init()
    isCancelled = cancellation.isCancelled
    samples = tally.samples.value
    ended = tally.ended.value
    hasReaderFailed = tally.failed.value > 0
  }
}
