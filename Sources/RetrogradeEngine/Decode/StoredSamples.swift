import Containers
import GStreamer
import Glibc

/// Where the samples of an audio track lie, whole sample frames one after the other.
protocol SampleStore: Sendable {
  /// Fills `bytes` with those from `offset` on, in bytes.
  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws
}

extension Spool: SampleStore {}

/// Samples that can be taken from the source as they are: they are read where they lie, in any direction, and need no spool.
final class StoredSamples: SampleStore {
  private let descriptor: Int32
  private let start: Int
  private let source: String

  /// - Parameter start: where the first sample is.
  /// - Throws: ``RetrogradeError``, where the file can't be opened.
  private init(_ path: String, start: Int) throws {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RetrogradeError(reading: path, errno: errno) }
    self.start = start
    source = path
  }

  deinit { close(descriptor) }

  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    guard readAll(bytes, from: descriptor, at: start + offset) else {
      throw RetrogradeError(reading: source, errno: errno)
    }
  }

  /// The audio of a WAVE file that holds PCM, and all that its header says; nil of all else.
  static func track(_ stream: StreamPath, of topology: Topology) throws -> AudioTrack? {
    guard stream.steps.map(\.factory) == ["wavparse"], stream.caps.mediaType == "audio/x-raw",
      stream.caps.string("layout") == "interleaved", let samples = topology.facts.wave?.samples,
      samples.frameBytes == stream.caps.bytesPerSampleFrame
    else { return nil }
    let count = samples.bytes.count / samples.frameBytes
    return AudioTrack(
      caps: stream.caps, codec: stream.caps, tags: stream.tags,
      chunks: [AudioChunk(position: 0, count: count, offset: 0)], packetBytes: 0,
      store: try StoredSamples(topology.source, start: samples.bytes.lowerBound))
  }
}
