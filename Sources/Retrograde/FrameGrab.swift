public import RetrogradeEngine

/// Writes single frames of a source as images: PNG, JPEG, WebP, TIFF, BMP.
///
/// ```swift
/// try await FrameGrab("holiday.mp4", at: [3.2, .frame(250), .end]).write(to: "frame-%02d.png")
/// ```
///
/// Each image is the frame on screen at a position, upright and with square pixels. If all
/// positions are times and the container allows seeking, only the part of the source from the
/// first to the last of them is read.
public struct FrameGrab: Sendable {
  /// Path of the source; `-` is standard input.
  public let input: String
  /// Positions in the source, in any order. `.end` means the last frame.
  public var places: [SourcePosition]
  /// Options of decoding and encoding. The order of play and the audio settings are ignored.
  public var options: ReverseOptions

  public init(_ input: String, at places: [SourcePosition], options: ReverseOptions = ReverseOptions()) {
    (self.input, self.places, self.options) = (input, places, options)
  }

  /// Writes the frames. All files appear together when they are complete; if an error occurs, no
  /// file appears.
  ///
  /// - Parameter output: path; its extension selects the format. For more than one frame, the path
  ///   must contain a number pattern such as `%02d`. The numbers count from 1.
  /// - Returns: the summary.
  /// - Throws: ``RetrogradeError``, or `CancellationError`.
  @discardableResult
  public func write(to output: String) async throws -> Summary {
    try await start(to: output).summary()
  }

  /// Begins to write the frames; the result reports the progress.
  public func start(to output: String) -> Reversal {
    Reversal { try run(to: output, $0) }
  }

  private func run(to output: String, _ work: Work) throws -> Summary {
    guard !places.isEmpty else { throw RetrogradeError(.usage, about: output, "no position is given") }
    let container = try Container.images(output)
    guard places.count == 1 || ImageSequence.isPattern(output) else {
      throw RetrogradeError(
        .usage, about: output, "is one image, but \(places.count) positions are given",
        remedy: "use a pattern for several images, such as frame-%02d.png")
    }
    work.scale.expect(.reversing(isVerified: false, isFetched: Address.isOfWeb(input)))
    let (source, counts) = try Outputs.write(overwrites: options.output.overwrites, inputs: [input]) { outputs in
      try outputs.begin(output)
      let source = try open(OutputRequirements(container, options.encoding), work)
      let drawing = FrameDrawing(lettering: options.lettering)
      return (source, try OutputPlan(output, in: container, source, options, drawing).write(outputs, work))
    }
    return Summary(
      output: output, frames: counts.frames, samples: [], duration: counts.duration, elapsed: work.elapsed,
      peakMemory: work.gauge.peak, plan: nil, warnings: (source.warnings + counts.warnings).unique,
      fetched: source.fetchedBytes.map { ByteCount($0) })
  }

  private func open(_ output: OutputRequirements, _ work: Work) throws -> PlayableSource {
    var playback = PlaybackOptions(
      loop: .forward, sequenceRate: options.playback.sequenceRate, streams: options.playback.streams)
    // Positions in time count from the start of the presentation, and audio may change that start.
    // Frame numbers do not depend on the audio.
    playback.noAudio = places.allSatisfy { $0.isFrame }
    let settings = PlaybackSettings(
      playback, count: 1, for: output, resources: options.resources, gauge: work.gauge,
      cancellation: work.cancellation)
    let tell: @Sendable (IndexProgress) -> Void = { work.report(.indexing, $0) }
    let fetched = try FetchedFile(input, options.resources, work.cancellation) { done, total in
      work.report(.fetching, done: done, of: total, position: .zero)
    }
    let path = fetched?.path ?? Address.path(of: input)
    if let animation = try AnimationReader(
      path, called: input, playback: playback, for: output, options.resources)
    {
      return try animation.decoded(work.gauge, work.cancellation, report: tell).frames(
        at: places, of: input, settings)
    }
    do {
      return try PlayableSource(
        OpenedSource(input, settings, fetched: fetched), framesAt: places, settings, progress: tell)
    } catch let error as RetrogradeError {
      throw error.naming(spooled: input == "-" ? "standard input" : input)
    }
  }
}

extension SourcePosition {
  /// True if the position is a frame number, or the last frame.
  fileprivate var isFrame: Bool { if case .frame = self { true } else { self == .end } }
}
