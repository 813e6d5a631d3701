import GStreamer
public import MediaTime
public import RetrogradeEngine

/// Progress of a run, such as a reversal or a comparison.
public struct ReversalProgress: Sendable, Codable {
  public enum Stage: String, Sendable, Codable {
    /// Countdown to the recording, while the camera already runs: `position` of `duration` has
    /// passed.
    case countdown
    /// Recording frames from a camera.
    case capturing
    /// Fetching the media of an address or a playlist into a temporary file: `done` of `total`
    /// bytes. `total` is 0 if unknown.
    case fetching
    /// Reading all packets, and decoding the audio.
    case indexing
    /// Looking for the part of the source that loops most smoothly.
    case searching
    /// Decoding the frames backwards, and encoding.
    case reversing
    /// Flushing the last frames from the encoder, after all frames were pushed. For a GIF, choosing
    /// the palette and writing the file.
    case finishing
    /// Joining the chunks of the output, which were encoded separately.
    case joining
    /// Comparing the mirror (the reversed file) with its source.
    case verifying
  }

  public var stage: Stage
  /// Number of video frames pushed into the encoder, or of audio sample frames if there is no
  /// video. In the stage `capturing`, number of recorded frames; in the stage `fetching`, number of
  /// bytes.
  public var done: Int
  /// Value of `done` at the end of the stage; 0 if unknown.
  public var total: Int
  /// Position that the stage has reached: in the source while indexing or searching, in the
  /// recording while capturing, otherwise in the output.
  public var position: ClockTime
  /// Value of `position` at the end of the stage; 0 while unknown.
  public var duration: ClockTime
  /// Time since the start of the current stage; in the stages `fetching`, `indexing` and
  /// `finishing`, time since the start of the run.
  public var elapsed: ClockTime
  /// Bytes of decoded media in memory now.
  public var memoryHeld: Int
  /// Share of the whole run that is done, from 0 to 1, over all stages. The value never decreases,
  /// and reaches 1 only when the run ends.
  public var fraction: Double
  /// Estimated remaining time at the current pace; nil if unknown.
  public var remaining: ClockTime?

  /// Share of this stage that is done, from 0 to 1.
  public var stageFraction: Double {
    if total > 0 { return min(1, Double(done) / Double(total)) }
    return duration > .zero ? min(1, position / duration) : 0
  }
  /// Average frames per second of this stage; 0 if the stage counts bytes.
  public var rate: Double { stage != .fetching && elapsed > .zero ? Double(done) / elapsed.seconds : 0 }
  /// Seconds of media processed per second.
  public var speed: Double { elapsed > .zero ? position / elapsed : 0 }
}

/// Result of a run.
public struct Summary: Sendable, Codable {
  public var output: String
  /// Number of video frames written.
  public var frames: Int
  /// Number of sample frames written to each audio stream.
  public var samples: [Int]
  public var duration: ClockTime
  /// Time that the run took.
  public var elapsed: ClockTime
  /// Largest number of bytes of decoded media in memory at once.
  public var peakMemory: Int
  public var plan: Plan?
  /// Warnings about details of the source that the mirror lacks or changes.
  public var warnings: [Warning]
  /// Description of the written file; nil for a ``PipelineFile``, for a ``FrameGrab``, and if
  /// another process joined the chunks.
  public var written: WrittenMedia?
  /// Streams whose codec was changed, with the reasons.
  public var changes: [CodecChange] = []
  /// Number of frames that a ``Capture`` recorded; nil for other runs.
  public var captured: Int?
  /// Loop that ``LoopFinder`` found; nil if no loop was searched for.
  public var loop: FoundLoop?
  /// Size of the data that was fetched from a web address or through a playlist; nil if nothing was
  /// fetched.
  public var fetched: ByteCount?
}
