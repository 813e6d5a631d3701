public import MediaTime

/// Part of a source to play, the order of play, and the timing. The defaults are those of
/// `retrograde reverse`.
public struct PlaybackOptions: Sendable, Codable {
  /// The order of play.
  public var loop: Loop
  /// Score that is played instead of ``loop``. Cannot be combined with ``start``, ``end``, a
  /// ``loop`` other than ``Loop/reverse``, or a ``timing`` other than ``Timing/mirror``.
  public var score: Score?
  /// Length of the audio crossfade between two parts, if a cut between them would click. If nil, a
  /// ``score`` uses ``Score/joint``, and a ``loop`` has no crossfade.
  public var joint: ClockTime?
  /// Length of the cross-dissolve between two parts that are not adjacent in the source; 0 for a
  /// cut. During the dissolve, the first part continues with the source's next frames; at the end
  /// of the source, the last frame stays on screen.
  public var dissolve: ClockTime
  /// Method of interpolating frames in parts that a ``score`` slows down; nil for no interpolation.
  public var interpolation: Interpolation?
  /// True if audio keeps its pitch in parts that a ``score`` plays at another speed, from 0.1 to
  /// 10. If false, the pitch follows the speed, as on a tape.
  public var keepsPitch: Bool
  /// Number of times the loop is played; at least 1.
  public var count: Int
  /// True to drop the last frame of the output if it repeats the first frame, for files that
  /// players loop. If nil, the output format decides: players loop GIF, WebP and APNG.
  public var dropsSeam: Bool?
  public var timing: Timing
  /// Start of the part of the source to play; nil for the start of the source.
  public var start: SourcePosition?
  /// End of the part of the source to play; nil for the end of the source.
  public var end: SourcePosition?
  /// Highest frame rate to show; nil to show all frames. Excess frames are dropped. The same frames
  /// are dropped in both directions, unless a ``score`` changes the speed.
  public var frameRate: FrameRate?
  /// Frame rate of an image sequence (`frames/%05d.png`).
  public var sequenceRate: FrameRate
  /// Streams to play; nil for all.
  public var streams: StreamSelection?
  public var noAudio: Bool
  public var noVideo: Bool

  public init(
    loop: Loop = .reverse, score: Score? = nil, joint: ClockTime? = nil, dissolve: ClockTime = .zero,
    interpolation: Interpolation? = nil, keepsPitch: Bool = false, count: Int = 1, dropsSeam: Bool? = nil,
    timing: Timing = .mirror,
    start: SourcePosition? = nil, end: SourcePosition? = nil, frameRate: FrameRate? = nil,
    sequenceRate: FrameRate = .usual, streams: StreamSelection? = nil, noAudio: Bool = false, noVideo: Bool = false
  ) {
    self.loop = loop
    self.score = score
    self.joint = joint
    self.dissolve = dissolve
    self.interpolation = interpolation
    self.keepsPitch = keepsPitch
    self.count = count
    self.dropsSeam = dropsSeam
    self.timing = timing
    self.start = start
    self.end = end
    self.frameRate = frameRate
    self.sequenceRate = sequenceRate
    self.streams = streams
    self.noAudio = noAudio
    self.noVideo = noVideo
  }
}

extension PlaybackOptions {
  /// Method of interpolating frames.
  public enum Interpolation: String, Sendable, Codable, CaseIterable {
    /// Each new frame is a mix of the two neighbouring frames.
    case blend
  }

  /// True if new frames are mixed from frames of the source.
  package var mixesFrames: Bool { dissolve > .zero || interpolation != nil }

  /// The order of play, in words.
  package var order: String { score.map { "\($0)" } ?? loop.rawValue }

  /// Checks that no other option conflicts with the score.
  /// - Throws: ``RetrogradeError`` of code `usage` if another option also sets the order of play.
  package func checkScore() throws {
    guard score != nil else { return }
    let others = [
      (start != nil, Setting.start), (end != nil, .end), (loop != .reverse, .loop), (timing != .mirror, .timing),
    ]
    guard let other = others.first(where: { $0.0 })?.1 else { return }
    throw RetrogradeError(
      .usage, "\(setting: other) can't be used with \(setting: .score), which sets the whole order of play",
      remedy: "leave out \(setting: other)")
  }
}
