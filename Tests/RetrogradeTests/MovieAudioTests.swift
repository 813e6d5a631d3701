import Foundation
import Retrograde
import TestSupport
import Testing

/// Audio of movies that a program draws with `MovieWriter`.
@Suite struct MovieAudioTests {
  /// Returns the value of an audio sample, which depends on the position and the channel.
  private static func sample(_ frame: Int, _ channel: Int) -> Float {
    Float((frame * 37 + channel * 101) % 2001 - 1000) / 1024
  }

  private static func samples(_ range: Range<Int>, _ channels: Int) -> [Float] {
    range.flatMap { frame in (0..<channels).map { sample(frame, $0) } }
  }

  /// Returns audio of `count` sample frames, delivered in blocks of varying length.
  private func audio(_ count: Int, rate: Int = 48_000, channels: Int = 2) -> MovieAudio {
    MovieAudio(sampleRate: rate, channels: channels) { position in
      Self.samples(position..<min(position + 1 + position % 3000, count), channels)
    }
  }

  private let lossless: ReverseOptions = {
    var options = ReverseOptions()
    options.encoding.quality = .lossless
    return options
  }()

  private func movie(
    _ path: String, frames: Int, loop: Loop = .forward, _ audio: MovieAudio, _ options: ReverseOptions
  ) async throws -> Summary {
    let movie = try await MovieWriter(
      path, width: 64, height: 64, frameRate: 25, loop: loop, audio: audio, options: options)
    for number in 0..<frames { try await movie.add { $0.fill(Color(white: Double(number) / Double(frames))) } }
    return try await movie.finish()
  }

  private func decoded(_ path: String) throws -> [Float] {
    var media = TestMedia()
    (media.video, media.sampleCount) = (nil, 1)
    let bytes = try DecodedMedia(path, like: media).audio
    return bytes.withUnsafeBytes { $0.bindMemory(to: Double.self).map { Float($0) } }
  }

  @Test("a lossless movie has every sample", arguments: [(1, 8_000, 8_001), (2, 48_000, 48_123), (6, 44_100, 30_000)])
  func losslessAudio(form: (channels: Int, rate: Int, count: Int)) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.mkv")
    let summary = try await movie(
      path, frames: 25, audio(form.count, rate: form.rate, channels: form.channels), lossless)
    #expect(summary.frames == 25 && summary.samples == [form.count] && summary.warnings.isEmpty)
    #expect(try decoded(path) == Self.samples(0..<form.count, form.channels))
  }

  /// qtmux 1.22 accepts 32-bit integers, but no floats.
  @Test("MOV stores all samples as integers")
  func integerSamples() async throws {
    let folder = try TemporaryFolder()
    var options = ReverseOptions()
    options.encoding.audioCodec = "pcm"
    let summary = try await movie(folder.path("movie.mov"), frames: 25, audio(48_123), options)
    #expect(summary.samples == [48_123])
    let (decoded, expected) = (try decoded(folder.path("movie.mov")), Self.samples(0..<48_123, 2))
    #expect(decoded.count == expected.count)
    #expect(zip(decoded, expected).allSatisfy { abs($0 - $1) < 0x1p-23 })
  }

  @Test("the audio of a loop plays in both directions")
  func loopAudio() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.mkv")
    // One second of frames. The frame at the turn is shown once, so the audio skips 1,920 samples.
    let summary = try await movie(path, frames: 25, loop: .pingPong, audio(48_000), lossless)
    #expect(summary.frames == 49 && summary.samples == [2 * 48_000 - 1_920])
    let samples = try decoded(path)
    #expect(Array(samples.prefix(96_000)) == Self.samples(0..<48_000, 2))
    let back = (0..<48_000 - 1_920).reversed().flatMap { frame in (0..<2).map { Self.sample(frame, $0) } }
    #expect(Array(samples.dropFirst(96_000)) == back)
  }

  @Test("audio starts with the first frame", arguments: ["mp4", "webm", "mkv", "avi"])
  func commonStart(container: String) async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.\(container)")
    let summary = try await movie(path, frames: 50, audio(96_000), ReverseOptions())
    #expect(summary.samples == [96_000] && summary.duration == .seconds(2))
    let report = try await Reverser(path).plan()
    let starts = report.streams.map(\.start)
    #expect(starts.count == 2)
    let apart = (starts.max() ?? .zero) - (starts.min() ?? .zero)
    #expect(apart < .milliseconds(1), "\(starts)")
  }

  @Test("an error of the audio source ends the movie")
  func failingAudio() async throws {
    struct Silence: Error {}
    let folder = try TemporaryFolder()
    let failing = MovieAudio(sampleRate: 48_000, channels: 1) { position in
      if position >= 4_800 { throw Silence() }
      return [Float](repeating: 0, count: 4_800)
    }
    await #expect(throws: Silence.self) {
      try await movie(folder.path("movie.mp4"), frames: 1_000, failing, ReverseOptions())
    }
    #expect(folder.names.isEmpty)
  }

  @Test("invalid sample rates and channel counts are refused", arguments: [(0, 1), (48_000, 0), (48_000, 65)])
  func invalidFormat(form: (rate: Int, channels: Int)) async throws {
    let folder = try TemporaryFolder()
    let error = await #expect(throws: RetrogradeError.self) {
      try await movie(
        folder.path("movie.mp4"), frames: 1, audio(1, rate: form.rate, channels: form.channels), ReverseOptions())
    }
    #expect(error?.code == .usage && folder.names.isEmpty)
  }

  @Test("incomplete sample frames are refused")
  func incompleteFrames() async throws {
    let folder = try TemporaryFolder()
    let odd = MovieAudio(sampleRate: 48_000, channels: 2) { _ in [0, 0, 0] }
    let error = await #expect(throws: RetrogradeError.self) {
      try await movie(folder.path("movie.mp4"), frames: 100, odd, ReverseOptions())
    }
    #expect(error?.code == .usage && folder.names.isEmpty)
  }

  @Test("audio that the output format can't store causes a warning")
  func gifAudio() async throws {
    let folder = try TemporaryFolder()
    let summary = try await movie(folder.path("movie.gif"), frames: 3, audio(4_800), ReverseOptions())
    #expect(summary.warnings.map(\.code) == [.streamLeftOut] && summary.samples.isEmpty)
  }

  @Test("an output format without video is refused")
  func audioOnly() async throws {
    let folder = try TemporaryFolder()
    let error = await #expect(throws: RetrogradeError.self) {
      try await movie(folder.path("movie.flac"), frames: 1, audio(48_000), ReverseOptions())
    }
    #expect(error?.code == .usage && folder.names.isEmpty)
  }

  @Test("endless audio can be cancelled")
  func endlessAudio() async throws {
    let folder = try TemporaryFolder()
    let endless = MovieAudio(sampleRate: 48_000, channels: 1) { _ in [Float](repeating: 0, count: 4_800) }
    let movie = try await MovieWriter(
      folder.path("movie.mp4"), width: 64, height: 64, frameRate: 25, audio: endless)
    try await movie.add { $0.fill(.white) }
    let finishing = Task { try await movie.finish() }
    movie.cancel()
    await #expect(throws: CancellationError.self) { try await finishing.value }
    #expect(folder.names.isEmpty)
  }
}
