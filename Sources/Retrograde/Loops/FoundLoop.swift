public import MediaTime
public import RetrogradeEngine

/// Part of a source that loops smoothly, as found by ``LoopFinder``.
public struct FoundLoop: Sendable, Hashable, Codable {
  /// Difference between the frames, or the audio, on the two sides of a loop's seam.
  public struct Fit: Sendable, Hashable, Codable {
    /// Difference at the seam. For video, the mean difference of pixel lightness, in 8-bit levels;
    /// for audio, the mean difference in loudness over bands of 333 Hz, in dB.
    public var residual: Double
    /// Average difference between neighbouring frames, or between neighbouring intervals of audio,
    /// within the loop.
    public var usual: Double
    /// Largest unnoticeable difference at the seam of this loop, in the unit of `residual`.
    public var limit: Double

    /// True if the seam is unnoticeable.
    public var isGood: Bool { residual <= limit }
  }

  /// Start of the loop's first frame and end of its last frame, counted from the source's start.
  public var span: TimeSpan
  /// Order of play of the loop: a cycle, or back and forth.
  public var loop: Loop
  /// Difference of the video at the seam; for a loop that goes back and forth, the motion at the
  /// two turning points.
  public var picture: Fit
  /// Difference of the audio at the seam; nil if there is no audio, or if the loop goes back and
  /// forth.
  public var audio: Fit?

  /// Length of the crossfade at the seam in the written file; nil if the seam is a cut, or in the
  /// result of ``LoopFinder/find(seam:_:)``, which writes no file.
  public var blend: ClockTime?

  /// True if neither video nor audio reveals the seam.
  public var isGood: Bool { picture.isGood && audio?.isGood ?? true }
}

/// Transition from the end of a loop to its beginning.
public enum LoopSeam: Sendable, Hashable {
  /// Hard cut: the loop's first frame follows its last frame.
  case cut
  /// Crossfade of this length, in video and audio: the source continues after the loop's end while
  /// the beginning fades in.
  ///
  /// The crossfade is in the middle of the file, so that the file's end and beginning are adjacent
  /// in the source, and join without a seam. A loop that goes back and forth has no seam to blend.
  case blend(ClockTime)
}
