import GStreamer
import RetrogradeEngine

/// Reverses a file of video and audio.
///
/// ```swift
/// let summary = try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4")
/// print(summary.frames, "frames,", summary.duration)
/// ```
///
/// Several files are reversed as one, as if they were played one after the other: `Reverser(["a.mp4",
/// "b.mp4"])`. The files after the first are made to fit it: pictures in size, with bars where their shape is
/// another one, and in orientation, audio in rate and channels. A warning says what was changed.
///
/// A reverser is a value: several may work at once, each on threads of its own. Cancelling the task that
/// waits stops the work at once, and removes its files.
public struct Reverser: Sendable {
  /// The paths of the files to reverse, in the order of play; `-` is standard input.
  public let inputs: [String]
  /// Name of the source as users know it: the path of its only file, or those of all, with a + between them.
  public var input: String { Reverser.name(of: inputs) }
  public var options: ReverseOptions
  /// Draws over every frame; nil: nothing does.
  public var overlay: Overlay?
  /// Comes before the first frame.
  public var title: Title?

  public init(
    _ input: String, options: ReverseOptions = ReverseOptions(), overlay: Overlay? = nil, title: Title? = nil
  ) {
    self.init([input], options: options, overlay: overlay, title: title)
  }

  /// - Parameter inputs: the paths of files that are reversed as one; at least one.
  public init(
    _ inputs: [String], options: ReverseOptions = ReverseOptions(), overlay: Overlay? = nil, title: Title? = nil
  ) {
    self.inputs = inputs
    self.options = options
    self.overlay = overlay
    self.title = title
  }

  static func name(of inputs: [String]) -> String { inputs.joined(separator: " + ") }

  /// Writes the mirror of the source to `output`. The file appears whole, or not at all.
  ///
  /// - Parameter output: its extension chooses the container.
  /// - Returns: the summary.
  /// - Throws: ``RetrogradeError``.
  @discardableResult
  public func reverse(to output: String) async throws -> Summary {
    try await start(to: output).summary()
  }

  /// Begins to write the mirror of the source to `output`; the result tells how far it is.
  ///
  /// ```swift
  /// let reversal = Reverser("holiday.mp4").start(to: "yadiloh.mp4")
  /// for await progress in reversal.progress { print(progress.fraction) }
  /// let summary = try await reversal.summary()
  /// ```
  public func start(to output: String) -> Reversal {
    Reversal { try run(to: output, $0) }
  }

  /// Looks at the source, and plans how it would be read backwards. Decodes the audio, and one window of video.
  ///
  /// - Throws: ``RetrogradeError``.
  public func plan() async throws -> SourceReport {
    try await Work.perform("plan") { try SourceReport(inputs, options, $0) }
  }
}
