public import MediaTime
public import RetrogradeEngine

/// Finds the part of a source that loops most smoothly: its end fits its beginning, in picture, motion and
/// audio.
///
/// ```swift
/// let finder = LoopFinder("waves.mp4", lengths: .seconds(2) ... .seconds(6))
/// let found = try await finder.find()
/// try await finder.reverser(of: found, seam: .blend(.seconds(0.4))).reverse(to: "loop.mp4")
/// ```
///
/// All frames are looked at once, at low resolution. Memory holds a kilobyte for each frame within the
/// longest length, whatever the length of the source; for audio, 2,400 bytes a second. The measure for
/// pictures is that of video textures: frames are alike where those before and after them are too, so that
/// the motion goes on (Schödl, Szeliski, Salesin, Essa: Video Textures, SIGGRAPH 2000, 3.1).
public struct LoopFinder: Sendable {
  public var input: String
  /// How long the loop may be; nil: ``usualLengths``, and less in a source that is shorter.
  public var lengths: ClosedRange<ClockTime>?
  /// Part of the source to search (`playback.start`, `playback.end`), the order of play, and the encoding of
  /// the loop that is found.
  public var options: ReverseOptions

  /// Default range of lengths, for sources that are long enough.
  public static let usualLengths = ClockTime.seconds(2)...ClockTime.seconds(6)

  /// - Parameters:
  ///   - lengths: how long the loop may be, above 0.
  ///   - options: `playback.loop` of ``Loop/reverse`` and ``Loop/forward`` asks for a cycle, that of the others for two turns.
  public init(
    _ input: String, lengths: ClosedRange<ClockTime>? = nil,
    options: ReverseOptions = ReverseOptions(playback: PlaybackOptions(loop: .forward))
  ) {
    self.input = input
    self.lengths = lengths
    self.options = options
  }

  /// - Parameters:
  ///   - seam: the seam that is to be made: a blend needs some of the source beyond the loop.
  ///   - report: told how far it is; called on a thread of the finder.
  /// - Throws: ``RetrogradeError`` of code `usage` where no stretch is that long; of other codes where the
  ///   source can't be read.
  public func find(
    seam: LoopSeam = .cut, _ report: @escaping @Sendable (ReversalProgress) -> Void = { _ in }
  ) async throws -> FoundLoop {
    try await Work.perform("find loop", report) { work in
      work.scale.expect([ExpectedStep(.indexing, 1), ExpectedStep(.searching, 4)])
      return try run(seam, work)
    }
  }

  /// Reverser that writes a loop that was found.
  public func reverser(of found: FoundLoop, seam: LoopSeam = .cut) -> Reverser {
    var reverser = Reverser(input, options: options)
    let (start, end) = (found.span.start, found.span.end)
    guard case .blend(let length) = seam else {
      (reverser.options.playback.start, reverser.options.playback.end) = (.time(start), .time(end))
      return reverser
    }
    // So the seam is inside the file, and its end goes on at its beginning as the source does.
    let middle = start + found.span.duration / 2
    reverser.options.playback.score = Score(
      found.loop == .forward
        ? [.stretch(from: .time(middle), to: .time(end)), .stretch(from: .time(start), to: .time(middle))]
        : [.stretch(from: .time(middle), to: .time(start)), .stretch(from: .time(end), to: .time(middle))])
    (reverser.options.playback.start, reverser.options.playback.end) = (nil, nil)
    reverser.options.playback.loop = .reverse
    (reverser.options.playback.dissolve, reverser.options.playback.joint) = (length, length)
    return reverser
  }
}
