public import MediaTime
public import RetrogradeEngine

/// A stretch of a source whose ends fit each other, as ``LoopFinder`` found it.
public struct FoundLoop: Sendable, Hashable, Codable {
  /// How far two places are apart that come one after the other where the loop closes.
  public struct Fit: Sendable, Hashable, Codable {
    /// How far the two are apart. Of pictures, the mean difference of their pixels' lightness, of 255 levels; of sounds, that of how loud
    /// bands of 333 Hz are, in dB.
    public var residual: Double
    /// How far neighbours within the loop are apart, on average.
    public var usual: Double
    /// Largest residual that can't be told from the usual one.
    public var limit: Double

    /// True if the seam will not be noticed.
    public var isGood: Bool { residual <= limit }
  }

  /// From its first frame to the end of its last one, counted from the source's start.
  public var span: TimeSpan
  /// The order of play that it fits.
  public var loop: Loop
  /// Fit of the picture; in a loop that turns, the picture hardly moves at the turn.
  public var picture: Fit
  /// nil where there is no audio, or where it turns, as the picture does.
  public var audio: Fit?

  /// For how long its end goes on under its beginning, in the written file; nil: it is cut.
  public var blend: ClockTime?

  /// Whether neither picture nor audio give the seam away.
  public var isGood: Bool { picture.isGood && audio?.isGood ?? true }
}

/// How the end of a loop becomes its beginning.
public enum LoopSeam: Sendable, Hashable {
  /// Nothing is changed: the last frame is followed by the first one.
  case cut
  /// The source after the loop's end goes on for so long, in picture and audio, while the beginning comes.
  /// The blend is in the middle of the file, which begins and ends where the source goes on. A loop that
  /// turns has nothing to blend.
  case blend(ClockTime)
}
