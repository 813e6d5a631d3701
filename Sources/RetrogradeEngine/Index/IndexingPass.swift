package import MediaTime

/// Decides when an indexing pass is over.
/// The thread that watches the pipeline reports its state repeatedly. This type is independent of
/// GStreamer and threads.
package struct IndexingPass: Sendable {
  /// Reason for the end of a pass.
  package enum End: Equatable, Sendable {
    /// All streams have ended.
    case streamsEnded
    /// All streams with data have ended; the others will never have any.
    case restIsMissing
    /// Reading of a stream failed, for example because the spool is full. The others would wait for
    /// it.
    case readerFailed
    /// An element failed, and no other is running.
    case pipelineFailed
    /// No sample for too long, without a read or an end.
    case stalled
    case cancelled
  }

  /// State of a pass at one moment.
  package struct Snapshot: Sendable {
    package var isCancelled = false
    /// Number of samples so far, over all streams.
    package var samples = 0
    /// Number of streams that ended.
    package var ended = 0
    package var hasReaderFailed = false
    /// Time without a message since the last report.
    package var silence = ClockTime.zero
    /// True if the source is waiting for bytes of the file: disks can be slow.
    package var isReading = false
    /// True if any element still runs; set only after an element has failed.
    package var isStreaming = true
    /// Number of streams without a linked element; set only in silence.
    package var unlinked = 0

    package init() {}
  }

  private let streams: Int
  private let stall: ClockTime
  private var idle = IdleTime()
  /// True after an element has failed.
  package private(set) var hasFailed = false

  /// - Parameters:
  ///   - streams: number of streams that the pass reads.
  ///   - stall: longest time without a sample.
  package init(streams: Int, stall: ClockTime) {
    self.streams = streams
    self.stall = stall
  }

  /// Notes that an element failed.
  /// The pass continues while other elements run. For example, qtdemux calls a file corrupt for one
  /// bad track, but reads the others.
  package mutating func fail() { hasFailed = true }

  /// - Returns: the reason to end the pass now; nil if it continues.
  package mutating func end(seeing sight: Snapshot) -> End? {
    if sight.isCancelled { return .cancelled }
    if sight.hasReaderFailed { return .readerFailed }
    if sight.ended >= streams { return .streamsEnded }
    if hasFailed, !sight.isStreaming { return .pipelineFailed }
    guard sight.silence > .zero else { return nil }
    if sight.unlinked > 0, sight.unlinked < streams, sight.ended >= streams - sight.unlinked { return .restIsMissing }
    guard !sight.isReading else { return nil }
    idle.add(sight.silence, count: sight.samples)
    return idle.length > stall ? .stalled : nil
  }
}
