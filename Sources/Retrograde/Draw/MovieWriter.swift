import GStreamer
public import MediaTime
public import RetrogradeEngine
import Synchronization

/// Makes a movie one frame at a time, of drawings and of images, with audio if there is any.
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
/// A drawing goes straight into the frame's own memory, 32 bits a pixel, which the encoder's converter reads: no frame is
/// made in between. Each call waits until the encoder has room. Calls may come from several tasks at once: frames are taken one
/// after the other, in the order in which the calls begin their work; one whose drawing throws is left out. With a loop other
/// than `forward` the frames wait, within the memory budget and then in the spool, and are encoded by ``finish()``.
///
/// Audio (``MovieAudio``) starts with the first frame. Of a movie that is not looped it is encoded while frames are added.
public final class MovieWriter: Sendable {
  /// In pixels.
  public let width: Int
  public let height: Int
  public let frameRate: FrameRate

  private let output: String
  private let options: ReverseOptions
  private let requirements: OutputRequirements
  private let audio: MovieAudio?
  private let work = Work()
  private let outputs: Outputs
  private let caps: Caps
  /// Held for as long as a frame takes, and only by threads that may wait.
  private let state: Mutex<State>

  private struct State: Sendable {
    /// Frames taken so far.
    var count = 0
    /// Encoder of frames as they come.
    var stream: MovieStream?
    /// Store of frames that wait to be looped.
    var recording: RecordedVideo?
    var isFinished = false
  }

  /// Opens a movie.
  ///
  /// - Parameters:
  ///   - output: its extension chooses the format, as it does for ``Reverser``.
  ///   - width: in pixels; even, for most codecs.
  ///   - height: in pixels; even, for most codecs.
  ///   - frameRate: how many frames are shown in a second.
  ///   - loop: the order of play of the frames.
  ///   - audio: the audio of the movie; nil: none.
  ///   - options: encoding (its `profile` is a GStreamer encoding profile), memory, spool, count of the loop,
  ///     whether an output may be replaced. Options of sources have no meaning here.
  /// - Throws: ``RetrogradeError``.
  public init(
    _ output: String, width: Int, height: Int, frameRate: FrameRate, loop: Loop = .forward,
    audio: MovieAudio? = nil, options: ReverseOptions = ReverseOptions()
  ) async throws {
    guard (1...16_384).contains(width), (1...16_384).contains(height),
      let caps = Caps(
        "video/x-raw,format=BGRx,width=\(width),height=\(height),framerate=\(frameRate),pixel-aspect-ratio=1/1")
    else { throw RetrogradeError(.usage, about: output, "a movie of \(width)x\(height) can't be made") }
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

  /// Adds a frame that `draw` draws. It starts black.
  public func add(_ draw: @escaping @Sendable (DrawingContext) throws -> Void) async throws {
    let (width, height) = (width, height)
    try await add(try Buffer.frame(width: width, height: height)) { pixels in
      try DrawingContext.draw(on: pixels, width: width, height: height, hasAlpha: false, draw)
    }
  }

  /// Adds an image, as large as fits, in the middle, over black.
  public func add(_ image: Image) async throws {
    try await add { context in context.draw(image, in: context.bounds.fitting(image.size)) }
  }

  /// Adds an image file: PNG, JPEG, or any format that GStreamer decodes.
  public func add(imageAt path: String) async throws { try await add(try await Image(contentsOf: path)) }

  /// Adds raw pixels.
  /// - Parameter pixels: width times height times 4 bytes: blue, green, red and one that is not used, rows without padding.
  public func add(pixels: [UInt8]) async throws {
    guard pixels.count == width * height * 4 else {
      throw RetrogradeError(
        .usage, about: output, "a frame of \(width)x\(height) has \(width * height * 4) bytes, and not \(pixels.count)")
    }
    try await add(try Buffer.frame(width: width, height: height)) { $0.copyBytes(from: pixels) }
  }

  private func add(
    _ frame: Buffer, _ fill: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws -> Void
  ) async throws {
    try await onOwnThread("movie frame", work.cancellation) { [self] in
      try state.withLock { state in
        guard !state.isFinished else {
          throw RetrogradeError(.usage, about: output, "is finished; no frame can be added")
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

  /// Ends the movie: the file appears whole.
  /// - Returns: the summary.
  /// - Throws: ``RetrogradeError``; also where no frame was added, and where it is finished already.
  @discardableResult
  public func finish() async throws -> Summary {
    try await onOwnThread("finish movie", work.cancellation) { [self] in
      let (count, stream, recording) = try state.withLock { state in
        guard !state.isFinished else { throw RetrogradeError(.usage, about: output, "is finished already") }
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
      guard count > 0 else { throw RetrogradeError(.usage, about: output, "has no frames") }
      let written = try stream.map { try finish($0) } ?? recording.map { try play($0) } ?? Written()
      try outputs.commit()
      return Summary(
        output: output, frames: written.frames, samples: written.samples, duration: written.duration,
        elapsed: work.elapsed, peakMemory: work.gauge.peak, plan: nil, warnings: written.warnings,
        written: WrittenMedia(container: WrittenMedia.containerName(of: output), streams: written.streams))
    }
  }

  /// Stops the work at once, and removes its files.
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
