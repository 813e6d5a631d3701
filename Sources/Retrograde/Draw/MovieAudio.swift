import GStreamer
import MediaTime
import RetrogradeEngine

/// Audio for a movie made from code. ``MovieWriter`` requests the samples when they are needed.
///
/// With the quality `lossless`, Matroska stores the samples unchanged, and MOV stores them as
/// 32-bit integers. MP4 and MOV can contain at most 2,147,483,647 sample frames, which last 12
/// hours at 48 kHz.
///
/// ```swift
/// let tone = MovieAudio(sampleRate: 48_000, channels: 1) { position in
///   guard position < 3 * 48_000 else { return [] }
///   return (position..<position + 4_800).map { Float(sin(Double($0) * 2 * .pi * 440 / 48_000)) }
/// }
/// ```
public struct MovieAudio: Sendable {
  /// Sample frames per second, from 1 to 768,000.
  public var sampleRate: Int
  /// Number of channels, from 1 to 64. With up to 8 channels, the channel order is GStreamer's
  /// default for that number of channels: left, right, centre, low frequencies, and so on.
  public var channels: Int
  /// Returns any number of interleaved samples from -1 to 1, starting at the sample frame
  /// `position`.
  ///
  /// An empty array ends the audio; the video may continue. Calls come from a separate thread, and
  /// each call starts where the previous call ended. A thrown error ends the movie.
  public var samples: @Sendable (_ position: Int) throws -> [Float]

  public init(sampleRate: Int, channels: Int, samples: @escaping @Sendable (_ position: Int) throws -> [Float]) {
    self.sampleRate = sampleRate
    self.channels = channels
    self.samples = samples
  }

  /// - Throws: ``RetrogradeError`` of code `usage` if the rate or the number of channels is
  ///   invalid.
  func caps() throws -> Caps {
    guard (1...768_000).contains(sampleRate), (1...64).contains(channels),
      let caps = Caps(floatSamplesOf: channels, rate: sampleRate)
    else {
      throw RetrogradeError(.usage, "audio with \(channels) channels at \(sampleRate) Hz can't be written")
    }
    return caps
  }

  /// Requests all samples in order.
  /// - Parameter body: called with the samples of each request, and the position of the first one
  ///   in sample frames.
  private func forEach(_ cancellation: Cancellation, _ body: ([Float], Int) throws -> Void) throws {
    var position = 0
    while true {
      try cancellation.check()
      let piece = try samples(position)
      if piece.isEmpty { return }
      guard piece.count.isMultiple(of: channels) else {
        throw RetrogradeError(
          .usage, "the number of samples (\(piece.count)) must be a multiple of the number of channels (\(channels))")
      }
      try body(piece, position)
      position += piece.count / channels
    }
  }

  /// Pushes all samples into the first audio stream of `writer`.
  func play(to writer: EncodingPipeline, _ cancellation: Cancellation) throws -> MuxedCount.PushedData {
    guard let source = writer.audio.first else { return MuxedCount.PushedData(count: 0) }
    var given = MuxedCount.PushedData(count: 0)
    try forEach(cancellation) { piece, position in
      let bytes = piece.count * MemoryLayout<Float>.size
      let buffer = try Buffer(size: bytes) { memory in piece.withUnsafeBytes { memory.copyMemory(from: $0) } }
      let count = piece.count / channels
      let start = ClockTime(sampleIndex: position, rate: sampleRate)
      let end = ClockTime(sampleIndex: position + count, rate: sampleRate)
      buffer.stamp(pts: writer.mirrorStart + start, duration: end - start)
      try writer.push(buffer, to: source)
      given.add(count, buffer)
    }
    writer.end(source)
    return given
  }

  /// Stores all samples in the spool.
  func recorded(_ resources: Resources, _ cancellation: Cancellation) throws -> AudioTrack? {
    var recorded = try RecordedAudio(try caps(), resources)
    try forEach(cancellation) { piece, _ in try piece.withUnsafeBytes { try recorded.add($0) } }
    return recorded.track
  }
}
