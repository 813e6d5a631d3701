import Foundation
import GStreamer
import MediaTime
import TestSupport
import Testing

/// Runs a pipeline to its end, and returns each buffer with its caps and its GStreamer segment.
/// - Parameters:
///   - description: the pipeline without its appsink.
///   - limit: longest wait for the next buffer.
/// - Throws: ``Stuck`` if no buffer arrives within `limit`; the first error of an element.
func packets(
  of description: String, limit: ClockTime = ClockTime(seconds: 10), _ prepare: (Pipeline) -> Void = { _ in }
) throws -> [Sample] {
  let pipeline = try Pipeline("\(description) ! appsink name=sink sync=false async=false")
  let sink = try pipeline.appSink("sink")
  prepare(pipeline)
  pipeline.set(.playing)
  defer { pipeline.set(.null) }
  let step = ClockTime(nanoseconds: 20_000_000)
  var found: [Sample] = []
  var idle = ClockTime.zero
  while true {
    if let sample = sink.pull(timeout: step) {
      found.append(sample)
      idle = .zero
    } else if sink.isEndOfStream {
      return found
    } else if let error = pipeline.pendingFailure {
      throw error
    } else {
      idle = idle + step
      if idle > limit { throw Stuck() }
    }
  }
}

/// Runs a pipeline to its first buffer, and returns the result of `body`.
/// - Parameter body: called with the appsink's pad, the appsink and the buffer.
func atFirstBuffer<T>(of description: String, _ body: (Pad, AppSink, Sample) throws -> T) throws -> T {
  let pipeline = try Pipeline("\(description) ! appsink name=sink sync=false async=false max-buffers=1")
  let sink = try pipeline.appSink("sink")
  pipeline.set(.playing)
  defer { pipeline.set(.null) }
  guard let sample = sink.pull(timeout: ClockTime(seconds: 10)) else {
    if let failure = pipeline.pendingFailure { throw failure }
    throw Stuck()
  }
  return try body(#require(sink.pad), sink, sample)
}

/// Encodes 30 frames, whose durations alternate between 40 and 360 ms, and returns the packets.
/// - Parameter encoder: elements between the frames and the appsink.
func variableRatePackets(_ encoder: String) throws -> [Buffer] {
  let caps = "video/x-raw,format=I420,width=64,height=64,framerate=0/1"
  return try packets(of: "appsrc name=in format=time caps=\(caps) ! \(encoder)") { pipeline in
    guard let source = try? pipeline.appSource("in") else { return }
    for number in 0..<30 {
      let frame = try? Buffer(size: 64 * 64 * 3 / 2) { bytes in
        for place in bytes.indices { bytes[place] = UInt8(truncatingIfNeeded: place &* number) }
      }
      guard let frame else { return }
      let (pair, half) = number.quotientAndRemainder(dividingBy: 2)
      frame.stamp(pts: .milliseconds(pair * 400 + half * 40), duration: .milliseconds(half == 0 ? 40 : 360))
      _ = source.push(frame)
    }
    source.endOfStream()
  }.map(\.buffer)
}

/// No buffer arrived within the limit.
struct Stuck: Error {}

extension Sample {
  /// True if the GStreamer segment contains the buffer's PTS, or the buffer has no PTS.
  var isShown: Bool { buffer.pts.map { segment.presents($0) } ?? true }
}

/// The bytes of a file, to edit and write back.
struct FileBytes {
  let path: String
  var bytes: [UInt8]

  init(_ path: String) throws {
    self.path = path
    bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Returns the offset after the last occurrence of a four-character name, such as the type of an
  /// MP4 box.
  func end(of name: String) throws -> Int {
    try #require(Data(bytes).range(of: Data(name.utf8), options: .backwards)?.upperBound)
  }

  /// Returns the big-endian 32-bit number at `offset`.
  func integer(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

  mutating func set(_ value: Int, at offset: Int) {
    bytes.replaceSubrange(offset..<offset + 4, with: withUnsafeBytes(of: UInt32(value).bigEndian, Array.init))
  }

  func write() throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
}

/// Makes a file with FFmpeg, and returns its path.
/// - Parameter arguments: inputs and options, without the output.
func ffmpeg(_ folder: TemporaryFolder, _ name: String, _ arguments: String...) throws -> String {
  let path = folder.path(name)
  _ = try FFmpeg.bytes(["-y"] + arguments.flatMap { $0.split(separator: " ").map(String.init) } + [path])
  return path
}

/// FFmpeg input: ten frames of 64x48, a tenth of a second each.
let tenFrames = "-f lavfi -i testsrc=size=64x48:rate=10:duration=1"
/// FFmpeg input: one second of a mono tone at 48 kHz.
let tone = "-f lavfi -i sine=duration=1:sample_rate=48000"

/// Writes an FFmpeg metadata file with two chapters, and returns the arguments that read it.
func twoChapters(_ folder: TemporaryFolder) throws -> String {
  let path = folder.path("chapters.txt")
  let chapters = ["START=0\nEND=500\ntitle=one", "START=500\nEND=1000\ntitle=two"]
  let text = ";FFMETADATA1\n" + chapters.map { "[CHAPTER]\nTIMEBASE=1/1000\n\($0)\n" }.joined()
  try text.write(toFile: path, atomically: true, encoding: .utf8)
  return "-i \(path)"
}
