package import MediaTime

/// Uncompressed audio in a file: byte ranges, each with consecutive sample frames.
package struct StoredAudio: Sendable {
  /// Byte ranges of the sample frames, in playback order.
  package private(set) var runs: [Range<Int>] = []
  /// Bytes per sample frame.
  package let frameBytes: Int
  /// Sample rate, in sample frames per second.
  package let rate: Int
  /// Range of the audio to play, as a GStreamer segment. The first sample in the file has timestamp
  /// 0.
  package var segment = Segment()

  /// - Returns: nil if `frameBytes` or `rate` is not positive.
  init?(frameBytes: Int, rate: Int) {
    guard frameBytes > 0, rate > 0 else { return nil }
    self.frameBytes = frameBytes
    self.rate = rate
  }

  /// Number of sample frames.
  package var count: Int { bytes / frameBytes }
  private var bytes = 0

  /// Appends a byte range. Merges the new range with the last one if they are adjacent.
  mutating func append(_ run: Range<Int>) {
    bytes += run.count
    if let last = runs.last, last.upperBound == run.lowerBound {
      runs[runs.count - 1] = last.lowerBound..<run.upperBound
    } else if !run.isEmpty {
      runs.append(run)
    }
  }
}
