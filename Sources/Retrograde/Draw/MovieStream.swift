import GStreamer
import MediaTime
import RetrogradeEngine

/// Movie that is encoded as its frames arrive. The audio is pushed on a separate thread, since a
/// muxer waits for every stream that lacks data.
struct MovieStream: Sendable {
  private let writer: EncodingPipeline
  private let video: AppSource
  private let audio: Worker<MuxedCount.PushedData>?
  private let cancellation: Cancellation
  private var given = MuxedCount.PushedData(count: 0)
  /// Warnings about details that the container can't store.
  let warnings: [Warning]

  /// Assumed length of the movie, since the real length is unknown. With a length, the pipeline
  /// makes MP4 edit lists count in audio samples, so that edits are exact. The 32-bit numbers in
  /// edit lists then suffice for 12 hours at 48 kHz.
  private static let expected = ClockTime.seconds(3600)

  /// - Throws: ``RetrogradeError`` if the container can't store video, if a video has a size limit,
  ///   or if encoding fails to start.
  init(
    _ output: String, _ outputs: Outputs, _ caps: Caps, _ frameRate: FrameRate, _ audio: MovieAudio?,
    _ options: ReverseOptions, _ cancellation: Cancellation
  ) throws {
    let index = VideoIndex(caps: caps, tags: nil, packets: [], segmentEnd: nil)
    // Use an empty recording to describe the audio, since no samples are available yet.
    let track = try audio.flatMap { try RecordedAudio(try $0.caps(), options.resources).track }
    let choice = try EncodingChoice(
      output: output,
      .init(
        videos: [.init(raw: caps, index: index)], audio: [track].compactMap { $0 }, duration: .zero,
        frameRate: frameRate.value), options: options.encoding)
    guard !choice.videos.isEmpty else {
      throw RetrogradeError(.usage, about: output, "can hold only audio", remedy: "use .mp4, .mkv or .webm")
    }
    guard options.encoding.maxSize == nil || choice.container.imageFormat != nil else {
      throw RetrogradeError(
        .usage, about: output,
        "\(setting: .maxSize) can't be used: the length of the movie is not known while it is encoded")
    }
    let path = try outputs.location(of: output)
    let tracks = choice.audioCodecs.isEmpty ? [] : [track].compactMap { $0 }
    let writer = try EncodingPipeline(
      EncodingPipeline.Contents(
        description: EncodingDescription(path: path, choice: choice, videos: [nil], audio: tracks.map { _ in nil })
          .text,
        videos: [.init(name: "video", caps: caps)], audio: tracks.map { .init(name: "audio0", caps: $0.caps) },
        tags: nil, duration: MovieStream.expected,
        animation: choice.container.animation.map {
          ($0, AnimationSettings(options.encoding, spoolDirectory: options.resources.spoolDirectory))
        },
        prepare: { _ in path }),
      for: output, cancellation)
    guard let video = writer.videos.first else {
      throw RetrogradeError(.internalFailure, about: output, "can't be created: no encoder accepts its frames")
    }
    self.writer = writer
    self.video = video
    self.cancellation = cancellation
    warnings = choice.warnings
    do {
      try writer.start()
      self.audio = try tracks.isEmpty ? nil : audio.map { try MovieStream.play($0, to: writer, cancellation) }
    } catch {
      writer.close()
      throw error
    }
  }

  private static func play(
    _ audio: MovieAudio, to writer: EncodingPipeline, _ cancellation: Cancellation
  ) throws -> Worker<MuxedCount.PushedData> {
    try Worker("movie audio") {
      do {
        return try audio.play(to: writer, cancellation)
      } catch {
        // Without the abort, the muxer would wait for the audio, and the caller's frames would wait
        // for the muxer.
        writer.abort()
        throw error
      }
    }
  }

  /// Writes `frame`, whose timestamp counts from the start of the movie.
  mutating func add(_ frame: Buffer) throws {
    guard let start = frame.pts, let duration = frame.duration else { return }
    frame.stamp(pts: writer.mirrorStart + start, duration: duration)
    do {
      try writer.push(frame, to: video)
    } catch is CancellationError {
      throw reason
    }
    given.add(1, frame)
  }

  /// Waits until all frames and samples are written.
  /// - Returns: the content of the file, and the length of the pushed frames and samples.
  func finish() throws -> (written: EncodingPipeline.Written, duration: ClockTime) {
    writer.end(video)
    let heard = try audio?.join()
    let written = try writer.finish(.init(videos: [given], audio: [heard].compactMap { $0 }))
    let end = [given.span?.end, heard?.span?.end].compactMap { $0 }.max() ?? writer.mirrorStart
    return (written, end - writer.mirrorStart)
  }

  /// Stops the writing, and waits for all writing threads.
  func close() { writer.close() }

  /// Reason why writing stopped: the error of the audio, if the audio failed and the writing was
  /// not cancelled; in all other cases `CancellationError`.
  private var reason: any Error {
    if cancellation.isCancelled { return CancellationError() }
    do {
      _ = try audio?.join()
      return CancellationError()
    } catch {
      return error
    }
  }
}
