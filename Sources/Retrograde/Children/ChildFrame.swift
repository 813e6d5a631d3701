import Glibc
import RetrogradeEngine

/// Message that a child process writes to its standard output. The child process encodes streaming
/// segments of one source.
struct ChildFrame: Sendable {
  enum Kind: UInt8, Sendable {
    /// JSON of a ``SegmentsOpened``.
    case opened
    /// Progress of the indexing.
    case progress
    /// Next bytes of the response.
    case bytes
    /// End of the response.
    case done
    /// JSON of a ``RetrogradeError``.
    case failed
    case cancelled
  }

  /// Number of the request; 0 stands for opening the source.
  var request: UInt32
  var kind: Kind
  var bytes: [UInt8] = []

  /// Size in bytes of the header: number of the request, length and kind.
  private static let headerLength = 9

  var encoded: [UInt8] {
    var header: [UInt8] = []
    for value in [request, UInt32(truncatingIfNeeded: bytes.count)] {
      for shift in stride(from: UInt32(0), to: 32, by: 8) { header.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }
    return header + [kind.rawValue] + bytes
  }

  /// Removes all complete messages from the front of `bytes`, and returns them.
  static func take(from bytes: inout [UInt8]) -> [ChildFrame] {
    var frames: [ChildFrame] = []
    var start = 0
    while bytes.count - start >= headerLength {
      let request = number(bytes[start..<start + 4])
      let length = Int(number(bytes[start + 4..<start + 8]))
      let end = start + headerLength + length
      guard let kind = Kind(rawValue: bytes[start + 8]), end <= bytes.count else { break }
      frames.append(ChildFrame(request: request, kind: kind, bytes: Array(bytes[start + headerLength..<end])))
      start = end
    }
    bytes.removeFirst(start)
    return frames
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// Description of a source, which the child process sends once, after opening the source.
struct SegmentsOpened: Codable, Sendable {
  var renditions: [SegmentedMirror.Rendition]
  /// Initialization segment of each rendition.
  var initializations: [[UInt8]]
  /// For each rendition, the number of fragments in each segment.
  var pieces: [[Int]]
  var duration: ClockTime
  var chapters: [Chapter]
  var subtitles: [SegmentedMirror.Subtitles]
  var warnings: [Warning]
}

/// Request to a child process for a segment, a picture or a waveform, as a line of JSON.
struct SegmentRequest: Codable, Sendable {
  enum Part: Codable, Sendable {
    case segment(Int, piece: Int, rendition: Int)
    case picture(ClockTime, height: Int, isExact: Bool)
    case waveform(Range<Int>, count: Int)
    /// Cancels the request with the same number.
    case cancel
  }

  /// Number of the request; at least 1.
  var number: UInt32
  var part: Part
}
