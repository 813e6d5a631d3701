import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

/// Contents of a file that a muxer wrote, with access to MP4 boxes.
struct MuxedFile {
  let bytes: [UInt8]

  /// Runs a pipeline, and reads the file that its muxer writes.
  /// - Parameter branches: the first branch ends in the muxer; the other branches are linked to the
  ///   muxer.
  init(_ branches: String...) throws {
    let folder = try TemporaryFolder()
    let description = [branches[0] + " ! filesink location=\(folder.path("out"))"] + branches.dropFirst()
    try Pipeline(description.joined(separator: " ")).runToEnd()
    try self.init(reading: folder.path("out"))
  }

  init(reading path: String) throws { bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path))) }

  func contains(_ part: [UInt8]) -> Bool { bytes.firstRange(of: part) != nil }

  /// Returns the offset of the body of each box of a type. Media data that contains the type is
  /// mistaken for a box.
  func places(of box: String) -> [Int] { bytes.ranges(of: Array(box.utf8)).map(\.upperBound) }

  /// Returns the bytes from the body of the first box of a type to the end of the file.
  func numbers(in box: String) throws -> [UInt8] { Array(bytes[try #require(places(of: box).first)...]) }

  /// Returns the bytes of ``numbers(in:)`` as big-endian 32-bit words.
  func words(in box: String) throws -> [Int] {
    let body = try numbers(in: box)
    return stride(from: 0, through: body.count - 4, by: 4).map { place in
      body[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
    }
  }
}

extension Pipeline {
  /// Plays to the end.
  func runToEnd() throws {
    defer { set(.null) }
    set(.playing)
    try waitForEnd()
  }

  /// Pushes buffers into an appsrc, and plays to the end.
  /// - Parameter starts: start of each buffer in milliseconds. A buffer lasts until the next start;
  ///   the last buffer lasts until `end`.
  func feed(_ source: String, _ starts: [Int], end: Int, _ content: (Int) -> [UInt8]) throws {
    defer { set(.null) }
    set(.playing)
    let source = try appSource(source)
    for (index, start) in starts.enumerated() {
      let content = content(index)
      let buffer = try Buffer(size: content.count) { $0.copyBytes(from: content) }
      let next = starts.dropFirst(index + 1).first ?? end
      buffer.stamp(pts: .milliseconds(start), duration: .milliseconds(next - start))
      try #require(source.push(buffer))
    }
    source.endOfStream()
    try waitForEnd()
  }

  private func waitForEnd() throws {
    while let message = nextMessage(timeout: ClockTime(seconds: 20)) {
      if case .endOfStream = message { return }
      if case .failed(let error) = message { throw error }
    }
    throw GStreamerError(kind: .other, element: nil, message: "the pipeline does not end", debug: nil)
  }
}
