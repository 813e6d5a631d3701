public import MediaTime
public import RetrogradeEngine

/// Finds the part of a source that loops most smoothly: the part's end matches the part's beginning
/// in image, motion and audio.
///
/// ```swift
/// let finder = LoopFinder("waves.mp4", lengths: .seconds(2) ... .seconds(6))
/// let found = try await finder.find()
/// try await finder.reverser(of: found, seam: .blend(.seconds(0.4))).reverse(to: "loop.mp4")
/// ```
///
/// All frames are compared in one pass, at low resolution. Memory use: 1.4 kilobytes for each frame
/// of the longest allowed loop, and 2,400 bytes for each second of the source's audio. Two frames
/// match only if their neighbours match too, so that the motion continues (Schödl, Szeliski,
/// Salesin, Essa: Video Textures, SIGGRAPH 2000, 3.1).
public struct LoopFinder: Sendable {
  public var input: String
  /// Allowed range of loop lengths; nil: ``usualLengths``, with a smaller minimum for short
  /// sources.
  public var lengths: ClosedRange<ClockTime>?
  /// Options: the part of the source to search (`playback.start`, `playback.end`), the order of
  /// play, and the encoding of the found loop.
  public var options: ReverseOptions

  /// Default range of loop lengths, for sources of at least three times the minimum.
  public static let usualLengths = ClockTime.seconds(2)...ClockTime.seconds(6)

  /// - Parameters:
  ///   - lengths: range of loop lengths, above 0.
  ///   - options: `playback.loop` selects the kind of loop: a cycle for ``Loop/reverse`` and
  ///     ``Loop/forward``, playback back and forth for the other values.
  public init(
    _ input: String, lengths: ClosedRange<ClockTime>? = nil,
    options: ReverseOptions = ReverseOptions(playback: PlaybackOptions(loop: .forward))
  ) {
    self.input = input
    self.lengths = lengths
    self.options = options
  }

  /// Finds the loop.
  ///
  /// - Parameters:
  ///   - seam: transition with which the loop will be written. A blend needs some of the source
  ///     beyond the loop, so it restricts the search.
  ///   - report: gets the progress; called on a thread of the finder.
  /// - Throws: ``RetrogradeError``: code `usage` if the source has no video, if options can't be
  ///   used, or if no loop has an allowed length; other codes if the source can't be read.
  public func find(
    seam: LoopSeam = .cut, _ report: @escaping @Sendable (ReversalProgress) -> Void = { _ in }
  ) async throws -> FoundLoop {
    try await Work.perform("find loop", report) { work in
      work.scale.expect([ExpectedStep(.indexing, 1), ExpectedStep(.searching, 4)])
      return try run(seam, work)
    }
  }

  /// Creates a reverser that writes a found loop.
  public func reverser(of found: FoundLoop, seam: LoopSeam = .cut) -> Reverser {
    var reverser = Reverser(input, options: options)
    let (start, end) = (found.span.start, found.span.end)
    guard case .blend(let length) = seam else {
      (reverser.options.playback.start, reverser.options.playback.end) = (.time(start), .time(end))
      return reverser
    }
    // Start the file in the middle of the loop. The blended seam is then inside the file, and the
    // file's end and beginning are adjacent in the source.
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
