package import MediaTime

/// Decides when an indexing pass is over.
///
/// The thread that watches the pipeline repeatedly reports the pipeline's state. This type uses
/// neither GStreamer nor threads.
package struct IndexingPass: Sendable {
  /// Reason for the end of a pass.
  package enum End: Equatable, Sendable {
    /// All streams have ended.
    case streamsEnded
    /// All streams with data have ended; the other streams will never have any data.
    case restIsMissing
    /// Reading a stream failed, for example because the spool is full. The other streams would wait
    /// for this stream forever.
    case readerFailed
    /// An element failed, and no other element is running.
    case pipelineFailed
    /// For too long, no sample was output, no bytes were read, and no stream ended.
    case stalled
    case cancelled
  }

  /// State of a pass at one moment.
  package struct Snapshot: Sendable {
    package var isCancelled = false
    /// Number of GStreamer samples so far, over all streams.
    package var samples = 0
    /// Number of streams that have ended.
    package var ended = 0
    package var hasReaderFailed = false
    /// Time without a message from the pipeline since the last report.
    package var silence = ClockTime.zero
    /// True if the source is waiting for bytes of the file. The pass is then not stalled, because
    /// disks can be slow.
    package var isReading = false
    /// True if any element is still running; set only after an element has failed.
    package var isStreaming = true
    /// Number of streams whose pipeline branch starts with an unlinked sink pad, so no data can
    /// arrive; set only if `silence` is not 0.
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
  ///   - stall: longest allowed time without a sample.
  package init(streams: Int, stall: ClockTime) {
    self.streams = streams
    self.stall = stall
  }

  /// Records that an element failed.
  ///
  /// The pass continues while other elements are running. For example, if one track is damaged,
  /// qtdemux posts an error about the file but reads the other tracks.
  package mutating func fail() { hasFailed = true }

  /// - Returns: the reason to end the pass now; nil to continue.
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
