public import MediaTime

/// Part of a source that is played, its order, and its times. The defaults are those of `retrograde reverse`.
public struct PlaybackOptions: Sendable, Codable {
  /// The order of play.
  public var loop: Loop
  /// Score that is played in place of the loop. Excludes ``start``, ``end`` and a ``timing`` that is not
  /// ``Timing/mirror``.
  public var score: Score?
  /// For how long the audio of a stretch fades out while that of the next fades in, where it would click otherwise; nil:
  /// ``Score/joint`` in a ``score``, not at all in a ``loop``.
  public var joint: ClockTime?
  /// Length of the cross-dissolve between two stretches that don't follow from each other; 0: a cut. The
  /// first stretch goes on with the source's next frames, or, where it has no more, with the last frame.
  public var dissolve: ClockTime
  /// How frames are made between those of stretches that a ``score`` plays slower than the source; nil: none is made.
  public var interpolation: Interpolation?
  /// Whether audio keeps its pitch where a ``score`` has another speed than the source's, 0.1 to 10; it follows the speed otherwise, as
  /// a tape's does.
  public var keepsPitch: Bool
  /// How often the loop is played; at least 1.
  public var count: Int
  /// Whether the last frame of all is left out where it is the first one again: for files that players repeat. Nil: as
  /// players treat the output; of those that can be written, GIF, WebP and APNG are repeated.
  public var dropsSeam: Bool?
  public var timing: Timing
  /// Part of the source to play; nil: from its start, to its end.
  public var start: SourcePosition?
  public var end: SourcePosition?
  /// The most frames per second to show; nil: all. Where there are more, those between are left out, the same ones
  /// forwards and backwards.
  public var frameRate: FrameRate?
  /// How fast the frames of an image sequence (`frames/%05d.png`) are shown.
  public var sequenceRate: FrameRate
  /// Which streams to play; nil: all.
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
  /// How frames are made between others.
  public enum Interpolation: String, Sendable, Codable, CaseIterable {
    /// Each frame is a mixture of the two that it lies between.
    case blend
  }

  /// Whether frames that the source does not have are made by mixing those that it has.
  package var mixesFrames: Bool { dissolve > .zero || interpolation != nil }

  /// The order of play, in words.
  package var order: String { score.map { "\($0)" } ?? loop.rawValue }

  /// - Throws: ``RetrogradeError`` of code `usage` where something else says what is played too.
  package func checkScore() throws {
    guard score != nil else { return }
    let others = [
      (start != nil, Setting.start), (end != nil, .end), (loop != .reverse, .loop), (timing != .mirror, .timing),
    ]
    guard let other = others.first(where: { $0.0 })?.1 else { return }
    throw RetrogradeError(
      .usage, "\(setting: other): \(setting: .score) sets the whole order of play", remedy: "put it into the score")
  }
}
