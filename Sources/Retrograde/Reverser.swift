import GStreamer
import RetrogradeEngine

/// Reverses a file of video and audio.
///
/// ```swift
/// let summary = try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4")
/// print(summary.frames, "frames,", summary.duration)
/// ```
///
/// Several files are joined and reversed as one: `Reverser(["a.mp4", "b.mp4"])`. The result has the
/// first file's frame size, orientation, sample rate and channels. The other files are converted to
/// this format, with black bars if their aspect ratio differs. A warning lists the changes.
///
/// A reverser is a value type. Several reversers can work at once, each on its own threads.
/// Cancelling a task that waits for a reversal stops the reversal at once, and removes its
/// unfinished files.
public struct Reverser: Sendable {
  /// Paths of the files to reverse, in the order of play; `-` is standard input.
  public let inputs: [String]
  /// Name of the source in messages: the path of the only input, or all paths joined by `+`.
  public var input: String { Reverser.name(of: inputs) }
  public var options: ReverseOptions
  /// Drawing over every frame; nil: none.
  public var overlay: Overlay?
  /// Title before the first frame; nil: none.
  public var title: Title?

  public init(
    _ input: String, options: ReverseOptions = ReverseOptions(), overlay: Overlay? = nil, title: Title? = nil
  ) {
    self.init([input], options: options, overlay: overlay, title: title)
  }

  /// - Parameter inputs: paths of the files to join and reverse; at least one.
  public init(
    _ inputs: [String], options: ReverseOptions = ReverseOptions(), overlay: Overlay? = nil, title: Title? = nil
  ) {
    self.inputs = inputs
    self.options = options
    self.overlay = overlay
    self.title = title
  }

  static func name(of inputs: [String]) -> String { inputs.joined(separator: " + ") }

  /// Writes the reversed source to `output`. The file appears complete, or not at all.
  ///
  /// - Parameter output: its extension selects the container.
  /// - Returns: the summary.
  /// - Throws: ``RetrogradeError``, or `CancellationError`.
  @discardableResult
  public func reverse(to output: String) async throws -> Summary {
    try await start(to: output).summary()
  }

  /// Begins to write the reversed source to `output`; the result reports the progress.
  ///
  /// ```swift
  /// let reversal = Reverser("holiday.mp4").start(to: "yadiloh.mp4")
  /// for await progress in reversal.progress { print(progress.fraction) }
  /// let summary = try await reversal.summary()
  /// ```
  public func start(to output: String) -> Reversal {
    Reversal { try run(to: output, $0) }
  }

  /// Inspects the source, and plans how to read it backwards. Decodes the audio, and a short range
  /// (window) of the video.
  ///
  /// - Throws: ``RetrogradeError``.
  public func plan() async throws -> SourceReport {
    try await Work.perform("plan") { try SourceReport(inputs, options, $0) }
  }
}
