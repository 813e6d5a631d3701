import GStreamer
public import MediaTime
public import RetrogradeEngine

/// How far the work is.
public struct ReversalProgress: Sendable {
  public enum Stage: String, Sendable {
    /// A camera runs, and nothing is kept yet: `position` of `duration` has passed.
    case countdown
    /// Frames from a camera are kept.
    case capturing
    /// Reading all packets, and decoding the audio.
    case indexing
    /// Looking for a loop.
    case searching
    /// Decoding the frames backwards, and encoding.
    case reversing
    /// Putting chunks together.
    case joining
    /// Comparing the mirror with its source.
    case verifying
  }

  public var stage: Stage
  /// Frames of video, or, in a source without one, sample frames of audio, given to the encoder.
  public var done: Int
  /// Of how many.
  public var total: Int
  /// How much of the mirror that is.
  public var position: ClockTime
  /// The length of the mirror; 0 while it is not known.
  public var duration: ClockTime
  /// Time taken so far.
  public var elapsed: ClockTime
  /// Bytes of decoded media held now.
  public var memoryHeld: Int

  /// From 0 to 1.
  public var fraction: Double {
    if total > 0 { return min(1, Double(done) / Double(total)) }
    return stage != .indexing && duration > .zero ? min(1, position / duration) : 0
  }
  /// Frames per second of this stage, on average.
  public var rate: Double { elapsed > .zero ? Double(done) / elapsed.seconds : 0 }
  /// Seconds of media per second.
  public var speed: Double { elapsed > .zero ? position / elapsed : 0 }
  /// Time left, if things go on as they did; nil while there is nothing to tell it by.
  public var remaining: ClockTime? { fraction > 0 ? .seconds(elapsed.seconds * (1 - fraction) / fraction) : nil }
}

/// What was done.
public struct Summary: Sendable {
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
  /// What the mirror does not hold as the source promises it.
  public var warnings: [Warning]
  /// Frames that were recorded from a live source.
  public var captured: Int?
  /// What was looked for.
  public var loop: FoundLoop?
}
