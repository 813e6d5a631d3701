import GStreamer
import MediaTime

/// Reads the audio of one leg, in the leg's direction, a few thousand sample frames at a time.
package struct AudioReader: LegAudio {
  private let track: AudioTrack
  private let leg: PlaybackLeg
  /// Sample frames to output (`range`), and sample frames with audio (`presented`). Both are
  /// counted from stream time 0. Sample frames outside `presented` are silent.
  private let range: Range<Int>
  private let presented: Range<Int>
  private let origin: ClockTime
  private var done = 0

  /// Maximum number of sample frames in a buffer.
  private let partSize: Int
  /// Default maximum number of sample frames in a buffer: few enough for a muxer to interleave the
  /// buffers with video frames.
  package static let partSize = 4096

  /// - Parameters:
  ///   - isPadded: true to begin with silence if the leg begins before its audio.
  ///   - isPaddedAtEnd: true to end with silence if the leg ends after its audio.
  init(_ track: AudioTrack, _ leg: PlaybackLeg, isPadded: Bool, isPaddedAtEnd: Bool, partSize: Int) {
    self.partSize = partSize
    self.track = track
    self.leg = leg
    presented = track.frames(during: leg.span)
    let whole = track.all(during: leg.span)
    let (head, tail) = leg.direction == .forward ? (isPadded, isPaddedAtEnd) : (isPaddedAtEnd, isPadded)
    let audio = presented.isEmpty ? whole.lowerBound..<whole.lowerBound : presented
    range = (head ? whole.lowerBound : audio.lowerBound)..<(tail ? whole.upperBound : audio.upperBound)
    origin =
      leg.direction == .forward
      ? leg.start + (ClockTime(sampleIndex: range.lowerBound, rate: track.rate) - leg.span.start)
      : leg.start + (leg.span.end - ClockTime(sampleIndex: range.upperBound, rate: track.rate))
  }

  /// Output time of the first sample; nil if there are no samples.
  var start: ClockTime? { range.isEmpty ? nil : max(origin, leg.start) }

  var count: Int { range.count }
  var left: Int { range.count - done }

  mutating func skip(_ count: Int) { done += count }

  mutating func next() throws -> AudioPart? {
    guard done < range.count else { return nil }
    let count = min(partSize, range.count - done)
    defer { done += count }
    return try part(after: done, count)
  }

  mutating func nextFromEnd() throws -> AudioPart? {
    guard done < range.count else { return nil }
    let count = min(partSize, range.count - done)
    defer { done += count }
    return try part(after: range.count - done - count, count)
  }

  func read(_ count: Int) throws -> [UInt8] {
    let part =
      leg.direction == .forward
      ? range.upperBound..<range.upperBound + count : range.lowerBound - count..<range.lowerBound
    return try track.samples(part, leg.direction)
  }

  /// Returns a buffer of `count` sample frames.
  /// - Parameter done: number of the leg's sample frames before this buffer, in the leg's
  ///   direction.
  private func part(after done: Int, _ count: Int) throws -> AudioPart {
    let part =
      leg.direction == .forward
      ? range.lowerBound + done..<range.lowerBound + done + count
      : range.upperBound - done - count..<range.upperBound - done
    let buffer = try Buffer(size: count * track.bytesPerFrame) { bytes in
      try track.read(part, within: presented, into: bytes)
      if leg.direction == .backward { SampleFrames.reverse(bytes, bytesPerFrame: track.bytesPerFrame) }
    }
    let shown = TimeSpan(
      start: max(.zero, origin + ClockTime(sampleIndex: done, rate: track.rate)),
      end: origin + ClockTime(sampleIndex: done + count, rate: track.rate))
    return AudioPart(buffer: buffer, shown: shown, count: count)
  }
}

extension AudioTrack {
  /// Returns the sample frames of `range` in the given direction. Sample frames outside the track
  /// are silent.
  func samples(_ range: Range<Int>, _ direction: Direction) throws -> [UInt8] {
    var samples = [UInt8](repeating: 0, count: range.count * bytesPerFrame)
    try samples.withUnsafeMutableBytes { bytes in
      try read(range, within: frames, into: bytes)
      if direction == .backward { SampleFrames.reverse(bytes, bytesPerFrame: bytesPerFrame) }
    }
    return samples
  }

  /// Returns the positions of the sample frames during `span`, counted from stream time 0.
  /// Positions without audio are included.
  func all(during span: TimeSpan) -> Range<Int> {
    let start = span.start.sampleIndex(rate: rate)
    return start..<max(start, span.end.sampleIndex(rate: rate))
  }

  /// True if the decoder outputs exactly the encoded sample frames: no priming, no padding.
  package var isWholeByCodec: Bool {
    let exact = [
      "audio/x-raw", "audio/x-flac", "audio/x-alac", "audio/x-wavpack", "audio/x-tta", "audio/x-mulaw", "audio/x-alaw",
    ]
    return exact.contains(codec.mediaType)
  }

  /// Returns the positions of the track's sample frames during `span`.
  package func frames(during span: TimeSpan) -> Range<Int> { frames.clamped(to: all(during: span)) }
}
