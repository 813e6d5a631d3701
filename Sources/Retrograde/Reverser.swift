import GStreamer
import RetrogradeEngine

/// Turns a file of video and audio round in time.
///
/// ```swift
/// let summary = try await Reverser("holiday.mp4").reverse(to: "yadiloh.mp4")
/// print(summary.frames, "frames")
/// ```
///
/// A reverser is a value: several may work at once, each on threads of its own. Cancelling the task that waits stops the
/// work at once, and removes what was begun.
public struct Reverser: Sendable {
  /// The path of the source; `-` is standard input.
  public let input: String
  public var options: ReverseOptions
  /// Draws over every frame; nil: nothing does.
  public var overlay: Overlay?
  /// Comes before the first frame.
  public var title: Title?

  public init(_ input: String, options: ReverseOptions = ReverseOptions()) {
    self.input = input
    self.options = options
  }

  /// Writes the mirror of the source to `output`. The file appears whole, or not at all.
  ///
  /// - Parameter output: its extension chooses the container.
  /// - Returns: what was done.
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
    Reversal(self, output)
  }

  /// Looks at the source, and plans how it would be read backwards. Decodes the audio, and one window of video.
  ///
  /// - Throws: ``RetrogradeError``.
  public func plan() async throws -> SourceReport {
    let cancellation = Cancellation()
    return try await onOwnThread("plan", cancellation) {
      try SourceReport(ReverseJob(input: input, options: options, cancellation: cancellation) { _ in })
    }
  }
}

/// The two pipelines of a reversal, in `gst-launch-1.0` syntax, that this library joins.
public struct PipelineDescriptions: Sendable {
  /// Decodes; what comes out of its appsinks is turned round.
  public var decoding: String
  /// Encodes and writes what is put into its appsrcs, which have the same names.
  public var encoding: String
  /// What ``PipelineFile`` knows by `@name value`: the order of play, tags, orientation.
  public var settings: [String]

  /// As a pipeline file.
  public var file: String {
    ([
      "# Made by retrograde reverse --print-pipeline; retrograde run FILE runs it. It has the first video stream and all audio;",
      "# subtitles, chapters and further video streams are not for pipeline files.",
    ] + settings
      + [decoding, "---", encoding]).joined(separator: "\n") + "\n"
  }
}

extension Reverser {
  /// The pipelines with which the source would be turned round into `output`. Nothing is written.
  ///
  /// - Throws: ``RetrogradeError``.
  public func pipelines(to output: String) async throws -> PipelineDescriptions {
    let cancellation = Cancellation()
    return try await onOwnThread("describe", cancellation) {
      try ReverseJob(
        input: input, options: options, drawing: FrameDrawing(overlay: overlay, title: title),
        cancellation: cancellation
      ) { _ in }.pipelines(to: output)
    }
  }
}

/// A reversal under way.
public struct Reversal: Sendable {
  /// How far it is, several times a second, until it ends, well or not. Values that nobody waits for are dropped.
  public let progress: AsyncStream<ReversalProgress>
  private let cancellation: Cancellation
  private let work: Task<Summary, any Error>

  fileprivate init(_ reverser: Reverser, _ output: String) {
    self.init { cancellation, report in
      try ReverseJob(
        input: reverser.input, options: reverser.options,
        drawing: FrameDrawing(overlay: reverser.overlay, title: reverser.title), cancellation: cancellation,
        report: report
      ).run(to: output)
    }
  }

  init(
    _ job: @escaping @Sendable (Cancellation, @escaping @Sendable (ReversalProgress) -> Void) throws -> Summary
  ) {
    let (stream, continuation) = AsyncStream.makeStream(of: ReversalProgress.self, bufferingPolicy: .bufferingNewest(1))
    progress = stream
    let cancellation = Cancellation()
    self.cancellation = cancellation
    work = Task {
      defer { continuation.finish() }
      return try await onOwnThread("reverse", cancellation) {
        try job(cancellation) { continuation.yield($0) }
      }
    }
  }

  /// Waits for the end of the work. Cancelling the task that waits cancels the work.
  /// - Throws: ``RetrogradeError``, or `CancellationError` if it was cancelled.
  public func summary() async throws -> Summary {
    try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Stops the work at once, and removes what was begun.
  public func cancel() { cancellation.cancel() }
}

extension PipelineFile {
  /// Begins to run the file; the result tells how far it is.
  ///
  /// - Parameters:
  ///   - values: of the file's parameters.
  ///   - options: memory, spool, strictness, whether outputs may be replaced; what the file itself sets counts more.
  public func start(_ values: [String: String], options: ReverseOptions = ReverseOptions()) -> Reversal {
    Reversal { cancellation, report in
      try PipelineJob(file: self, values: values, options: options, cancellation: cancellation, report: report).run()
    }
  }

  /// Finds out whether the file could be run with these values, without running it: both halves can be built, and each
  /// appsink has its appsrc.
  ///
  /// - Throws: ``RetrogradeError``, with the place in the file.
  public func check(_ values: [String: String], options: ReverseOptions = ReverseOptions()) async throws {
    let cancellation = Cancellation()
    try await onOwnThread("check", cancellation) {
      try PipelineJob(file: self, values: values, options: options, cancellation: cancellation) { _ in }.check()
    }
  }
}
