package import GStreamer
package import MediaTime

/// Collects decoded frames in display order, and records their times. The last ``held`` frames stay
/// in memory; earlier frames go to the spool (a temporary file).
package struct FrameCollector {
  package let frames: DecodedWindow
  /// Start of each frame according to the decoder, not necessarily ascending.
  package private(set) var times: [ClockTime] = []
  /// Number of frames that stay in memory.
  package let held: Int
  /// Frame starts to use if the decoded frames have no times.
  package var given: [ClockTime]?

  package init(held: Int, spool: Spool, gauge: MemoryGauge, given: [ClockTime]? = nil) {
    frames = DecodedWindow(spool: spool, gauge: gauge)
    self.held = held
    self.given = given
  }

  /// Adds a frame. Ignores a frame without a start, or outside the presentation.
  /// - Returns: false if the frame starts at or after `limit`. Neither this frame nor any later
  ///   frame is wanted then.
  package mutating func add(_ sample: Sample, before limit: ClockTime? = nil) throws -> Bool {
    guard let time = FrameCollector.time(of: sample, after: times, given: given) else { return true }
    if let limit, time >= limit { return false }
    if times.count >= held { try frames.moveToSpool(times.count - held) }
    frames.push(sample.buffer)
    times.append(time)
    return true
  }

  /// Returns the start of a decoded frame; nil if the start is unknown, or the frame is not part of
  /// the presentation.
  /// - Parameters:
  ///   - times: starts of the previous frames. A frame without a time gets the last of them.
  ///   - given: frame starts to use if the decoded frames have no times.
  static func time(of sample: Sample, after times: [ClockTime], given: [ClockTime]?) -> ClockTime? {
    guard
      let time = given.map({ times.count < $0.count ? $0[times.count] : nil }) ?? sample.presentationTime ?? times.last
    else { return nil }
    // Frames outside an edit are not part of the presentation.
    return time < sample.segment.time ? nil : time
  }

  /// Returns strictly ascending frame starts, and the number of frames whose starts had to be
  /// changed.
  /// - Parameter stored: frame starts from the container's packet times, in display order.
  package func starts(stored: [ClockTime]? = nil) -> (times: [ClockTime], moved: Int) {
    FrameCollector.starts(times, stored: stored)
  }

  static func starts(_ times: [ClockTime], stored: [ClockTime]?) -> (times: [ClockTime], moved: Int) {
    if let stored, stored.count == times.count, isAscending(stored) { return (stored, 0) }
    return ascending(times)
  }

  static func isAscending(_ times: [ClockTime]) -> Bool {
    zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// Returns a strictly ascending copy of `times`, and the number of times that were changed.
  static func ascending(_ times: [ClockTime]) -> (times: [ClockTime], moved: Int) {
    if isAscending(times) { return (times, 0) }
    // If all times are equal, the stream has no times. In this case, assume 25 frames per second.
    if times.count > 2, times.allSatisfy({ $0 == times[0] }) {
      return (times.indices.map { times[0] + ClockTime(sampleIndex: $0, rate: 25) }, times.count - 1)
    }
    var result = times
    var moved = 0
    var first = 0
    var step = ClockTime(nanoseconds: 40_000_000)
    while first < times.count {
      // Matroska rounds times, so at more than 1,000 frames per second several frames have the same
      // time. `next` is the first frame with a later start than the frame `first`. Spread the
      // frames before `next` evenly over the time between these two starts. After the last
      // different start, spread the remaining frames over the previous interval, at most 40 ms.
      let next = times[first...].firstIndex { $0 > times[first] } ?? times.count
      step = next < times.count ? times[next] - times[first] : min(step, ClockTime(nanoseconds: 40_000_000))
      for frame in first + 1..<next {
        result[frame] =
          times[first] + ClockTime(nanoseconds: step.nanoseconds / Int64(next - first) * Int64(frame - first))
        moved += 1
      }
      first = next
    }
    // If there are more frames than nanoseconds between two times, the starts do not ascend. Use 25
    // frames per second instead.
    return isAscending(result) ? (result, moved) : (result.indices.map { ClockTime(sampleIndex: $0, rate: 25) }, moved)
  }
}
