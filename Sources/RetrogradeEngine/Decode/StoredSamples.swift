import Containers
import GStreamer
import Glibc
import MediaTime
import Paths

/// Store of an audio track's sample frames, without gaps between them.
protocol SampleStore: Sendable {
  /// Fills `bytes` with the stored bytes from `offset` on.
  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws
}

extension Spool: SampleStore {}

/// Audio samples that are read directly from the source file, in any direction, without a spool.
final class StoredSamples: SampleStore {
  private let descriptor: Int32
  private let source: String
  private let runs: [Range<Int>]
  /// Byte offset of each contiguous run of samples, relative to the first sample of the track.
  private let starts: [Int]

  /// - Throws: ``RetrogradeError`` if the file can't be opened.
  private init(_ path: String, _ stored: StoredAudio) throws {
    descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RetrogradeError(reading: path, errno: errno) }
    source = path
    runs = stored.runs
    var next = 0
    starts = stored.runs.map { run in
      defer { next += run.count }
      return next
    }
  }

  deinit { close(descriptor) }

  func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      let pieces = pieces(bytes.count - done, at: offset + done)
      guard let first = pieces.first, let last = pieces.last else { throw RetrogradeError(reading: source, errno: EIO) }
      let count = pieces.reduce(0) { $0 + $1.count }
      let target = UnsafeMutableRawBufferPointer(rebasing: bytes[done..<done + count])
      let span = first.lowerBound..<last.upperBound
      if pieces.count == 1 {
        guard readAll(target, from: descriptor, at: span.lowerBound) else {
          throw RetrogradeError(reading: source, errno: errno)
        }
      } else {
        try withUnsafeTemporaryAllocation(byteCount: span.count, alignment: 1) { all in
          guard readAll(all, from: descriptor, at: span.lowerBound) else {
            throw RetrogradeError(reading: source, errno: errno)
          }
          var next = 0
          for piece in pieces {
            let start = piece.lowerBound - span.lowerBound
            UnsafeMutableRawBufferPointer(rebasing: target[next..<next + piece.count])
              .copyMemory(from: UnsafeRawBufferPointer(rebasing: all[start..<start + piece.count]))
            next += piece.count
          }
        }
      }
      done += count
    }
  }

  /// Returns file ranges of up to `count` bytes from `offset` on. They are read in one system call,
  /// together with the bytes between them. The ranges end before the first gap that is larger than
  /// ``gap``.
  private func pieces(_ count: Int, at offset: Int) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var done = 0
    var number = starts.endOfPrefix { $0 <= offset } - 1
    while done < count, runs.indices.contains(number) {
      let start = runs[number].lowerBound + offset + done - starts[number]
      if let last = pieces.last, !(last.upperBound...last.upperBound + StoredSamples.gap).contains(start) { break }
      guard start < runs[number].upperBound else { break }
      let piece = start..<min(runs[number].upperBound, start + count - done)
      pieces.append(piece)
      done += piece.count
      number += 1
    }
    return pieces
  }

  /// Largest gap in bytes between two runs that are read together. Reading a larger gap would take
  /// longer than a separate system call.
  private static let gap = 256

  /// Returns the audio of a PCM stream whose container states where the samples are; nil for other
  /// streams.
  static func track(_ stream: StreamPath, of topology: Topology) throws -> AudioTrack? {
    guard let stored = stream.stored, let caps = stream.storedCaps, caps.mediaType == "audio/x-raw",
      caps.string("layout") == "interleaved", stored.frameBytes == caps.bytesPerSampleFrame,
      stored.rate == caps.int("rate")
    else { return nil }
    let layout = AudioLayout(rate: stored.rate, segment: stored.segment, packetCount: nil)
    guard let chunks = try? layout.place([DecodedAudio(stamp: .zero, packetStamp: nil, count: stored.count)]).chunks,
      !chunks.isEmpty
    else { return nil }
    var track = AudioTrack(
      caps: caps, codec: caps, tags: stream.tags, chunks: chunks,
      store: try StoredSamples(topology.source, stored))
    track?.disposition = stream.disposition
    return track
  }
}

extension StreamPath {
  /// Caps of the audio samples in the file.
  fileprivate var storedCaps: Caps? {
    guard let format = wave64 else { return caps }
    guard let name = format.name else { return nil }
    // For one or two channels, caps need no speaker positions.
    let places = format.channels > 2 ? "," + Caps.field(channelMask: loudspeakers ?? 0) : ""
    return Caps(
      "audio/x-raw,format=\(name),layout=interleaved,rate=\(format.rate),channels=\(format.channels)\(places)")
  }
}
