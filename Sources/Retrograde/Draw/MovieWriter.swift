import GStreamer
public import MediaTime
public import RetrogradeEngine
import Synchronization

/// Makes a movie frame by frame, from drawings and images, optionally with audio.
///
/// ```swift
/// let movie = try await MovieWriter("curve.mp4", width: 640, height: 360, frameRate: 30)
/// for number in 0..<90 {
///   try await movie.add { context in
///     context.fill(.white)
///     var line = Path()
///     line.move(to: Point(x: 20, y: 180))
///     line.addLine(to: Point(x: 20 + Double(number) * 6, y: 180))
///     context.stroke(line, with: .color(.black), Stroke(width: 4))
///   }
/// }
/// ```
///
/// Drawings go directly into the frame's memory (32 bits per pixel), from which the encoder's
/// converter reads; there is no intermediate frame. Each call waits until the encoder has room.
/// Several tasks can add frames at once: frames are added one at a time, in the order in which the
/// calls begin to run. If a drawing throws, the frame is skipped.
///
/// With a loop other than `forward`, a play count other than 1, or numbered images as output,
/// frames are stored in memory up to the budget, then in the spool (temporary files), and are
/// encoded by ``finish()``.
///
/// Audio (``MovieAudio``) starts with the first frame. If frames are encoded as they are added, the
/// audio is encoded at the same time.
public final class MovieWriter: Sendable {
  /// Width of the frames, in pixels.
  public let width: Int
  /// Height of the frames, in pixels.
  public let height: Int
  public let frameRate: FrameRate

  private let output: String
  private let options: ReverseOptions
  private let requirements: OutputRequirements
  private let audio: MovieAudio?
  private let work = Work()
  private let outputs: Outputs
  private let caps: Caps
  /// State of the movie. The lock is held while a frame is added, so only threads that may block
  /// for long may take the lock.
  private let state: Mutex<State>

  private struct State: Sendable {
    /// Number of frames so far.
    var count = 0
    /// Encodes each frame when it is added; nil if frames are stored in `recording` first.
    var stream: MovieStream?
    /// Stores the frames until ``finish()`` encodes them; nil if `stream` encodes the frames.
    var recording: RecordedVideo?
    var isFinished = false
  }

  /// Opens a movie file for writing.
  ///
  /// - Parameters:
  ///   - output: path of the movie; the extension selects the format, as for ``Reverser``.
  ///   - width: in pixels; most codecs need an even number.
  ///   - height: in pixels; most codecs need an even number.
  ///   - frameRate: frames per second.
  ///   - loop: order of play of the frames.
  ///   - audio: audio of the movie; nil: none.
  ///   - options: encoding (`encoding.profile` is a GStreamer encoding profile), memory, spool,
  ///     loop count, replacement of existing files. Options of sources are ignored.
  /// - Throws: ``RetrogradeError``.
  public init(
    _ output: String, width: Int, height: Int, frameRate: FrameRate, loop: Loop = .forward,
    audio: MovieAudio? = nil, options: ReverseOptions = ReverseOptions()
  ) async throws {
    guard (1...16_384).contains(width), (1...16_384).contains(height),
      let caps = Caps(
        "video/x-raw,format=BGRx,width=\(width),height=\(height),framerate=\(frameRate),pixel-aspect-ratio=1/1")
    else {
      throw RetrogradeError(
        .usage, about: output, "a movie of \(width)x\(height) can't be created: each side must be 1 to 16384 pixels")
    }
    var options = options
    options.playback.loop = loop
    self.options = options
    requirements = try OutputRequirements(of: output, options.encoding)
    self.output = output
    self.width = width
    self.height = height
    self.frameRate = frameRate
    self.audio = audio
    self.caps = caps
    let isStreamed = loop == .forward && options.playback.count == 1 && !ImageSequence.isPattern(output)
    let outputs = Outputs(
      overwrites: options.output.overwrites, inputs: [], pipe: (options.resources, work.cancellation))
    self.outputs = outputs
    let (final, token) = (options, work.cancellation)
    state = Mutex(State())
    let stream = try await onOwnThread("open movie", token) {
      try outputs.begin(output)
      return isStreamed ? try MovieStream(output, outputs, caps, frameRate, audio, final, token) : nil
    }
    state.withLock { $0.stream = stream }
  }

  deinit {
    state.withLock { $0.stream }?.close()
    outputs.clear()
  }

  /// Adds a frame drawn by `draw` over black.
  public func add(_ draw: @escaping @Sendable (DrawingContext) throws -> Void) async throws {
    let (width, height) = (width, height)
    try await add(try Buffer.frame(width: width, height: height)) { pixels in
      try DrawingContext.draw(on: pixels, width: width, height: height, hasAlpha: false, draw)
    }
  }

  /// Adds an image, scaled to fit, centred on black.
  public func add(_ image: Image) async throws {
    try await add { context in context.draw(image, in: context.bounds.fitting(image.size)) }
  }

  /// Adds an image file: PNG, JPEG, or any format that GStreamer decodes.
  public func add(imageAt path: String) async throws { try await add(try await Image(contentsOf: path)) }

  /// Adds a frame of raw pixels.
  /// - Parameter pixels: width × height × 4 bytes: blue, green, red and an unused byte for each
  ///   pixel; rows have no padding.
  public func add(pixels: [UInt8]) async throws {
    guard pixels.count == width * height * 4 else {
      throw RetrogradeError(
        .usage, about: output,
        "a frame of \(width)x\(height) must have \(width * height * 4) bytes, but this one has \(pixels.count)")
    }
    try await add(try Buffer.frame(width: width, height: height)) { $0.copyBytes(from: pixels) }
  }

  private func add(
    _ frame: Buffer, _ fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Void
  ) async throws {
    try await onOwnThread("movie frame", work.cancellation) { [self] in
      try state.withLock { state in
        guard !state.isFinished else {
          throw RetrogradeError(.usage, about: output, "is already finished; no frame can be added")
        }
        try work.cancellation.check()
        try frame.withMutableBytes(fill)
        let start = frameRate.start(of: state.count)
        frame.stamp(pts: start, duration: frameRate.start(of: state.count + 1) - start)
        if state.stream != nil {
          try state.stream?.add(frame)
        } else {
          let sample = Sample(buffer: frame, caps: caps)
          if state.recording == nil {
            state.recording = try RecordedVideo(
              like: sample, rate: FrameRateLimit(options.playback, requirements), options.resources, work.gauge)
          }
          try state.recording?.add(sample)
        }
        state.count += 1
      }
    }
  }

  /// Finishes the movie. The file appears only now, complete.
  /// - Returns: the summary.
  /// - Throws: ``RetrogradeError`` if writing fails, if no frame was added, or if the movie is
  ///   already finished.
  @discardableResult
  public func finish() async throws -> Summary {
    try await onOwnThread("finish movie", work.cancellation) { [self] in
      let (count, stream, recording) = try state.withLock { state in
        guard !state.isFinished else { throw RetrogradeError(.usage, about: output, "is already finished") }
        defer {
          state.isFinished = true
          state.stream = nil
          state.recording = nil
        }
        return (state.count, state.stream, state.recording)
      }
      defer {
        stream?.close()
        outputs.clear()
      }
      try work.cancellation.check()
      guard count > 0 else {
        throw RetrogradeError(.usage, about: output, "no frame was added before the end of the movie")
      }
      let written = try stream.map { try finish($0) } ?? recording.map { try play($0) } ?? Written()
      try outputs.commit()
      return Summary(
        output: output, frames: written.frames, samples: written.samples, duration: written.duration,
        elapsed: work.elapsed, peakMemory: work.gauge.peak, plan: nil, warnings: written.warnings,
        written: WrittenMedia(container: WrittenMedia.containerName(of: output), streams: written.streams))
    }
  }

  /// Stops the work at once. The unfinished file is removed when the writer is released, or earlier
  /// by ``finish()``.
  public func cancel() { work.cancellation.cancel() }

  private struct Written {
    var frames = 0
    var samples: [Int] = []
    var duration = ClockTime.zero
    var warnings: [Warning] = []
    var streams: [WrittenMedia.Stream] = []
  }

  private func finish(_ stream: MovieStream) throws -> Written {
    let (written, duration) = try stream.finish()
    let warnings = stream.warnings + written.warnings
    try warnings.check(isStrict: options.output.isStrict, output)
    return Written(
      frames: written.counts.frames.first ?? 0, samples: written.counts.samples,
      duration: duration, warnings: warnings, streams: written.streams)
  }

  private func play(_ recording: RecordedVideo) throws -> Written {
    let video = try recording.source(tags: nil, description: "")
    let track = try audio.flatMap { try $0.recorded(options.resources, work.cancellation) }
    let index = SourceIndex(
      recipe: nil, video: video.video, audio: [track].compactMap { $0 }, tags: nil, warnings: [])
    let source = try PlayableSource(
      output, index, video, playback: options.playback, count: options.playback.count, for: requirements)
    let counts = try OutputPlan(output, source, options).write(outputs, work)
    return Written(
      frames: counts.frames, samples: counts.samples, duration: counts.duration, warnings: counts.warnings,
      streams: counts.streams)
  }
}
