package import Containers
package import GStreamer
import MediaTime

/// One decoded audio stream, which can be read in any direction. The audio is in the spool or in
/// the source file.
package struct AudioTrack: Sendable {
  /// Caps of the interleaved samples.
  package let caps: Caps
  /// Caps of the packets before decoding.
  package let codec: Caps
  package let tags: TagList?
  package internal(set) var disposition: Disposition?
  package let rate: Int
  package let channels: Int
  package let bytesPerFrame: Int
  /// Chunks of contiguous audio, ascending and without overlap. Gaps between the chunks are
  /// silence.
  let chunks: [AudioChunk]
  /// Bit rate of the packets in bits per second; nil if unknown, as for raw audio.
  package let bitrate: Int?
  let store: any SampleStore
  /// False if the exact position of the audio is unknown. The position then comes from timestamps.
  package internal(set) var isPlaced = true

  init?(caps: Caps, codec: Caps, tags: TagList?, chunks: [AudioChunk], bitrate: Int? = nil, store: any SampleStore) {
    guard let rate = caps.int("rate"), rate > 0, let channels = caps.int("channels"), channels > 0,
      let bytesPerFrame = caps.bytesPerSampleFrame
    else { return nil }
    self.caps = caps
    self.codec = codec
    self.tags = tags
    self.rate = rate
    self.channels = channels
    self.bytesPerFrame = bytesPerFrame
    self.chunks = chunks
    self.bitrate = bitrate
    self.store = store
  }

  /// Range of the sample frames, counted from stream time 0.
  package var frames: Range<Int> {
    guard let first = chunks.first, let last = chunks.last else { return 0..<0 }
    return first.position..<last.position + last.count
  }

  /// Gaps between the chunks, in sample frames.
  var gaps: [Range<Int>] {
    zip(chunks, chunks.dropFirst()).map { $0.position + $0.count..<$1.position }.filter { !$0.isEmpty }
  }

  func span(of frames: Range<Int>) -> TimeSpan {
    TimeSpan(
      start: ClockTime(sampleIndex: frames.lowerBound, rate: rate),
      end: ClockTime(sampleIndex: frames.upperBound, rate: rate))
  }

  /// Warning about gaps between the chunks; nil if there are none.
  var missing: Warning? {
    guard let first = gaps.first, let last = gaps.last else { return nil }
    let length = ClockTime(sampleIndex: gaps.reduce(0) { $0 + $1.count }, rate: rate)
    let span = span(of: first.lowerBound..<last.upperBound)
    let places = gaps.count == 1 ? "1 place" : "\(gaps.count) places"
    return Warning(
      .damaged,
      "damaged: \(length) of audio is missing in \(places), between \(span.start) and \(span.end); the output is "
        + "silent there",
      count: gaps.count, span: span)
  }

  /// Size of the track's audio in the spool, in bytes, with gaps counted as audio; 0 if the audio
  /// is not in the spool.
  package var spoolBytes: Int { store is Spool ? frames.count * bytesPerFrame : 0 }

  package var span: TimeSpan { span(of: frames) }

  /// Byte value of silence: the middle of the range in unsigned formats.
  private var zero: UInt8 { caps.string("format") == "U8" ? 0x80 : 0 }

  func silence(_ count: Int) -> [UInt8] { [UInt8](repeating: zero, count: max(count, 0) * bytesPerFrame) }

  /// Fills `bytes` with the sample frames of `range`, in forward order. Gaps and sample frames
  /// outside `limits` become silence.
  func read(_ range: Range<Int>, within limits: Range<Int>, into bytes: UnsafeMutableRawBufferPointer) throws {
    func silence(_ part: Range<Int>) {
      UnsafeMutableRawBufferPointer(rebasing: bytes[part]).initializeMemory(as: UInt8.self, repeating: zero)
    }
    var done = 0
    let first = chunks.endOfPrefix { $0.position + $0.count <= range.lowerBound }
    for chunk in chunks[first...] {
      guard chunk.position < range.upperBound else { break }
      let part = range.clamped(to: limits).clamped(to: chunk.position..<chunk.position + chunk.count)
      if part.isEmpty { continue }
      let target = (part.lowerBound - range.lowerBound) * bytesPerFrame
      silence(done..<target)
      done = target + part.count * bytesPerFrame
      try store.read(
        UnsafeMutableRawBufferPointer(rebasing: bytes[target..<done]),
        at: (chunk.offset + part.lowerBound - chunk.position) * bytesPerFrame)
    }
    silence(done..<bytes.count)
  }
}
