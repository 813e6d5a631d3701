import MediaTime

/// Table with a value for each MP4 sample (packet) of a track, stored as runs of equal values:
/// `stts` or `ctts` (ISO/IEC 14496-12, 8.6.1).
struct SampleRuns {
  /// Number of MP4 samples in the track.
  private let count: Int
  private let bytes: [UInt8]
  /// Range of the entries (eight bytes each).
  private let entries: Range<Int>

  /// Maximum number of samples in a track; a larger number is treated as damage, because even a
  /// week of video has fewer.
  static let most = 1 << 25

  /// - Parameters:
  ///   - table: body of an `stbl` box.
  ///   - count: number of samples, at most ``most``.
  /// - Returns: nil if there is no such table, or if its number of values is not `count`.
  init?(_ type: String, _ bytes: [UInt8], _ table: Range<Int>, _ count: Int) {
    guard let body = bytes.box(type, in: table), body.count >= 8 else { return nil }
    self.count = count
    self.bytes = bytes
    entries = body.lowerBound + 8..<body.upperBound - body.count % 8
    var left = count
    for place in stride(from: entries.lowerBound, to: entries.upperBound, by: 8) {
      let length = bytes.integer(place)
      guard length <= left else { return nil }
      left -= length
    }
    guard left == 0 else { return nil }
  }

  /// Value of each MP4 sample of the track.
  var values: [Int] {
    var values: [Int] = []
    values.reserveCapacity(count)
    forEach(in: [0..<count]) { values += repeatElement($2, count: $1) }
    return values
  }

  /// Returns the smallest and largest value of the samples in `ranges`, as signed numbers. The
  /// ranges must be ascending and disjoint. If `ranges` is nil, all samples count.
  func bounds(of ranges: [Range<Int>]? = nil) -> ClosedRange<Int>? {
    var found: ClosedRange<Int>?
    forEach(in: ranges ?? [0..<count]) { _, _, value in
      let value = Int(Int32(truncatingIfNeeded: value))
      found = found.map { min($0.lowerBound, value)...max($0.upperBound, value) } ?? value...value
    }
    return found
  }

  /// Calls `body` for each run in each range, with the index of the range, the number of samples in
  /// the run, and their value. Runs are clamped to the range; `ranges` must be ascending and
  /// disjoint.
  func forEach(in ranges: [Range<Int>], _ body: (_ range: Int, _ count: Int, _ value: Int) -> Void) {
    var range = 0
    var sample = 0
    for place in stride(from: entries.lowerBound, to: entries.upperBound, by: 8) {
      let run = sample..<sample + bytes.integer(place)
      sample = run.upperBound
      while range < ranges.count {
        let common = run.clamped(to: ranges[range])
        if !common.isEmpty { body(range, common.count, bytes.integer(place + 4)) }
        guard ranges[range].upperBound <= run.upperBound else { break }
        range += 1
      }
      if range == ranges.count { return }
    }
  }

  /// Returns the samples that are decoded during `span`, in media time. Only for a table of
  /// durations (`stts`).
  func samples(in span: Range<ClockTime>, _ timescale: Int) -> Range<Int> {
    let start = max(span.lowerBound.sampleIndex(rate: timescale), 0)
    let end = max(span.upperBound.sampleIndex(rate: timescale), start)
    var bounds = (first: nil as Int?, end: nil as Int?)
    var (sample, time) = (0, 0)
    for place in stride(from: entries.lowerBound, to: entries.upperBound, by: 8) {
      let (count, step) = (bytes.integer(place), bytes.integer(place + 4))
      // `time` cannot overflow: it is at most 2²⁵ samples of 2³² units each.
      let next = time + count * step
      if bounds.first == nil, next >= start { bounds.first = sample + (step > 0 ? (start - time) / step : 0) }
      if bounds.end == nil, next >= end {
        bounds.end = sample + min(count, step > 0 ? (end - time + step - 1) / step : count)
      }
      (sample, time) = (sample + count, next)
      if bounds.end != nil { break }
    }
    let first = bounds.first ?? sample
    return first..<max(first, bounds.end ?? sample)
  }
}
