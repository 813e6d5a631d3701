import GStreamer
public import MediaTime
public import RetrogradeEngine

/// How far the work is.
public struct ReversalProgress: Sendable, Codable {
  public enum Stage: String, Sendable, Codable {
    /// A camera runs, and nothing is kept yet: `position` of `duration` has passed.
    case countdown
    /// Frames from a camera are kept.
    case capturing
    /// Fetching the media at an address or behind a playlist into the spool: `done` of `total` bytes; 0 if
    /// the total is not known.
    case fetching
    /// Reading all packets, and decoding the audio.
    case indexing
    /// Looking for a loop.
    case searching
    /// Decoding the frames backwards, and encoding.
    case reversing
    /// All frames are given: the encoder's last ones are written, and a GIF gets its palette.
    case finishing
    /// Putting chunks together.
    case joining
    /// Comparing the mirror with its source.
    case verifying
  }

  public var stage: Stage
  /// Frames of video, or, in a source without one, sample frames of audio, given to the encoder.
  public var done: Int
  /// Total that `done` is out of.
  public var total: Int
  /// Length of the mirror up to there.
  public var position: ClockTime
  /// The length of the mirror; 0 while it is not known.
  public var duration: ClockTime
  /// Time taken so far, of this stage where it has several.
  public var elapsed: ClockTime
  /// Bytes of decoded media held now.
  public var memoryHeld: Int
  /// Share of all of the work that is done, from 0 to 1, over all stages. It never goes back, and does not
  /// reach 1 before the run has ended.
  public var fraction: Double
  /// Time left, if things go on as they do; nil while there is nothing to tell it by.
  public var remaining: ClockTime?

  /// Share of this stage that is done, from 0 to 1.
  public var stageFraction: Double {
    if total > 0 { return min(1, Double(done) / Double(total)) }
    return duration > .zero ? min(1, position / duration) : 0
  }
  /// Frames per second of this stage, on average; 0 where it is about bytes.
  public var rate: Double { stage != .fetching && elapsed > .zero ? Double(done) / elapsed.seconds : 0 }
  /// Seconds of media per second.
  public var speed: Double { elapsed > .zero ? position / elapsed : 0 }
}

/// Result of a run.
public struct Summary: Sendable, Codable {
  public var output: String
  /// Frames of video written.
  public var frames: Int
  /// Sample frames written of each audio stream.
  public var samples: [Int]
  public var duration: ClockTime
  /// Time taken.
  public var elapsed: ClockTime
  /// The most bytes of decoded media held at once.
  public var peakMemory: Int
  public var plan: Plan?
  /// Warnings about promises of the source that the mirror does not keep.
  public var warnings: [Warning]
  /// Content of the file; nil where a pipeline of the user's own writes several.
  public var written: WrittenMedia?
  /// Streams that changed to another codec, and why.
  public var changes: [CodecChange] = []
  /// Frames that were recorded from a live source.
  public var captured: Int?
  /// Loop that was found, if one was looked for.
  public var loop: FoundLoop?
  /// Size of the data fetched from an address, or by way of a playlist, that lay in the spool; nil where
  /// nothing was fetched.
  public var fetched: ByteCount?
}
