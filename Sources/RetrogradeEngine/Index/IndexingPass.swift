package import MediaTime

/// Decides when an indexing pass is over. The thread that watches the pipeline reports its state, again and
/// again; this type knows neither GStreamer nor threads.
package struct IndexingPass: Sendable {
  /// Reason for the end of a pass.
  package enum End: Equatable, Sendable {
    /// All streams have ended.
    case streamsEnded
    /// All streams that the source has have ended; for the others nothing will ever come.
    case restIsMissing
    /// A stream can't be read any further: for one, there is no room in the spool. The others would wait for it.
    case readerFailed
    /// An element failed, and nothing more comes.
    case pipelineFailed
    /// No sample for so long, nothing being read, and no end.
    case stalled
    case cancelled
  }

  /// State of a pass at one moment.
  package struct Sight: Sendable {
    package var isCancelled = false
    /// Samples that came, of all streams.
    package var samples = 0
    /// Streams that ended.
    package var ended = 0
    package var hasReaderFailed = false
    /// For how long the pipeline has said nothing since the last look.
    package var silence = ClockTime.zero
    /// Whether the source waits for the file's bytes: a disk may take its time.
    package var isReading = false
    /// Whether any element still runs; asked once one has failed.
    package var isStreaming = true
    /// Streams that no element leads to; asked in silence.
    package var unlinked = 0

    package init() {}
  }

  private let streams: Int
  private let stall: ClockTime
  private var idle = IdleTime()
  /// An element has failed.
  package private(set) var hasFailed = false

  /// - Parameters:
  ///   - streams: how many are read.
  ///   - stall: how long nothing may come.
  package init(streams: Int, stall: ClockTime) {
    self.streams = streams
    self.stall = stall
  }

  /// An element failed. The pass goes on for as long as others run: qtdemux, for one, calls a file corrupt for one bad track, and
  /// reads the others.
  package mutating func fail() { hasFailed = true }

  /// - Returns: the reason for the pass to end now; nil if it goes on.
  package mutating func end(seeing sight: Sight) -> End? {
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
