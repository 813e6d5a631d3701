public import FoundationEssentials
public import MediaTime
public import RetrogradeEngine

// Variants of methods that accept a URL instead of a path. A URL that is not a file URL (a web
// address) is passed on as text.

extension Reverser {
  public init(
    _ input: URL, options: ReverseOptions = ReverseOptions(), overlay: Overlay? = nil, title: Title? = nil
  ) {
    self.init(input.filePath, options: options, overlay: overlay, title: title)
  }

  /// Writes the reversed source to `output`. The file appears complete, or not at all.
  ///
  /// - Parameter output: its extension selects the container.
  /// - Returns: the summary.
  /// - Throws: ``RetrogradeError``, or `CancellationError`.
  @discardableResult
  public func reverse(to output: URL) async throws -> Summary { try await reverse(to: output.filePath) }

  /// Begins to write the reversed source to `output`; the result reports the progress.
  public func start(to output: URL) -> Reversal { start(to: output.filePath) }
}

extension LoopFinder {
  public init(
    _ input: URL, lengths: ClosedRange<ClockTime>? = nil,
    options: ReverseOptions = ReverseOptions(playback: PlaybackOptions(loop: .forward))
  ) {
    self.init(input.filePath, lengths: lengths, options: options)
  }
}

extension Verifier {
  public init(_ source: URL, mirror: URL, options: ReverseOptions = ReverseOptions(), isLossless: Bool = false) {
    self.init(source.filePath, mirror: mirror.filePath, options: options, isLossless: isLossless)
  }
}

extension Capture {
  /// Begins to record. The clip is written to `output` when the recording ends.
  public func start(to output: URL) -> CaptureSession { start(to: output.filePath) }
}

extension PipelineFile {
  /// Reads a pipeline file.
  /// - Throws: ``RetrogradeError``, with line and column of the mistake.
  public init(_ file: URL) throws { try self.init(path: file.filePath) }
}

extension Image {
  /// Reads an image file: PNG, JPEG, or any format that GStreamer decodes. From a video, the first
  /// frame is read.
  /// - Throws: ``RetrogradeError``.
  public init(contentsOf file: URL) async throws { try await self.init(contentsOf: file.filePath) }
}

extension MovieWriter {
  /// Opens a movie file for writing.
  public convenience init(
    _ output: URL, width: Int, height: Int, frameRate: FrameRate, loop: Loop = .forward,
    audio: MovieAudio? = nil, options: ReverseOptions = ReverseOptions()
  ) async throws {
    try await self.init(
      output.filePath, width: width, height: height, frameRate: frameRate, loop: loop, audio: audio, options: options)
  }

  /// Adds an image file: PNG, JPEG, or any format that GStreamer decodes.
  public func add(imageAt file: URL) async throws { try await add(imageAt: file.filePath) }
}

extension URL {
  /// Path of a file URL (the path need not be UTF-8); for any other URL, the URL's text.
  package var filePath: String {
    guard isFileURL else { return absoluteString }
    let path = absoluteURL.path(percentEncoded: true)
    return Address.decoded(path[...]) ?? path
  }
}
