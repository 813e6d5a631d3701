public import MediaTime
public import RetrogradeEngine

/// Part of a source whose ends match, as found by ``LoopFinder``.
public struct FoundLoop: Sendable, Hashable, Codable {
  /// Difference between the two sides of a loop's seam.
  public struct Fit: Sendable, Hashable, Codable {
    /// Difference at the seam. For video, the mean difference of pixel lightness, in levels of 255;
    /// for audio, the mean difference of the loudness of 333 Hz bands, in dB.
    public var residual: Double
    /// Average difference between neighbouring frames, or between neighbouring intervals of audio,
    /// within the loop.
    public var usual: Double
    /// Largest difference at a seam that goes unnoticed.
    public var limit: Double

    /// True if the seam is unnoticeable.
    public var isGood: Bool { residual <= limit }
  }

  /// Start of the first frame to end of the last one, from the source's start.
  public var span: TimeSpan
  /// Order of play that the loop is for.
  public var loop: Loop
  /// Match of the video. For a loop that turns, the motion at the turns instead.
  public var picture: Fit
  /// Match of the audio; nil if there is no audio, or if the loop turns.
  public var audio: Fit?

  /// Length of the blend at the seam in the written file; nil: a cut.
  public var blend: ClockTime?

  /// True if neither video nor audio reveals the seam.
  public var isGood: Bool { picture.isGood && audio?.isGood ?? true }
}

/// Transition from the end of a loop to its beginning.
public enum LoopSeam: Sendable, Hashable {
  /// Hard cut: the first frame follows the last one.
  case cut
  /// Crossfade of this length, in video and audio: the source continues after the loop's end while
  /// the beginning fades in.
  ///
  /// The blend is in the middle of the file, so that the file's end and beginning are adjacent in
  /// the source. A loop that turns has nothing to blend.
  case blend(ClockTime)
}
