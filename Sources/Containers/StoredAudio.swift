package import MediaTime

/// Places of PCM audio's samples in a file as they are, whole sample frames one after the other.
package struct StoredAudio: Sendable {
  /// The places of their bytes, in the order in which they are heard.
  package private(set) var runs: [Range<Int>] = []
  /// The bytes of a sample frame.
  package let frameBytes: Int
  /// In sample frames per second.
  package let rate: Int
  /// Part of the samples that is presented, and its times; the first sample's timestamp is 0.
  package var segment = Segment()

  /// - Returns: nil where there are no sample frames of that size.
  init?(frameBytes: Int, rate: Int) {
    guard frameBytes > 0, rate > 0 else { return nil }
    self.frameBytes = frameBytes
    self.rate = rate
  }

  /// How many sample frames there are.
  package var count: Int { bytes / frameBytes }
  private var bytes = 0

  /// Appends a run.
  mutating func append(_ run: Range<Int>) {
    bytes += run.count
    if let last = runs.last, last.upperBound == run.lowerBound {
      runs[runs.count - 1] = last.lowerBound..<run.upperBound
    } else if !run.isEmpty {
      runs.append(run)
    }
  }
}
