package import GStreamer
package import MediaTime

/// Takes decoded frames in display order, keeps the last ones in memory and the others in the spool, and notes when each is
/// shown.
package struct FrameCollector {
  package let frames: DecodedWindow
  /// When each frame starts, by its own account: not always later than the one before.
  package private(set) var times: [ClockTime] = []
  /// How many frames stay in memory.
  package let held: Int
  /// When frames start, where they do not say so themselves.
  package var given: [ClockTime]?

  package init(held: Int, spool: Spool, gauge: MemoryGauge, given: [ClockTime]? = nil) {
    frames = DecodedWindow(spool: spool, gauge: gauge)
    self.held = held
    self.given = given
  }

  /// - Returns: false if the frame starts at or after `limit`: it, and the following ones, are not wanted.
  package mutating func add(_ sample: Sample, before limit: ClockTime? = nil) throws -> Bool {
    guard let time = FrameCollector.time(of: sample, after: times, given: given) else { return true }
    if let limit, time >= limit { return false }
    if times.count >= held { try frames.moveToSpool(times.count - held) }
    frames.push(sample.buffer)
    times.append(time)
    return true
  }

  /// When a decoded frame starts; nil where it is no part of the presentation.
  /// - Parameter given: when frames start, where they do not say so themselves.
  static func time(of sample: Sample, after times: [ClockTime], given: [ClockTime]?) -> ClockTime? {
    guard
      let time = given.map({ times.count < $0.count ? $0[times.count] : nil }) ?? sample.presentationTime ?? times.last
    else { return nil }
    // Frames that begin before an edit, or after its end, are no part of the presentation.
    return time < sample.segment.time ? nil : time
  }

  /// Start of each frame, each later than the one before, and the number of frames that had to be moved for
  /// that.
  /// - Parameter stored: starts by the container's times of the packets, in display order.
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

  /// `times`, each made later than the one before, and how many of them were not.
  static func ascending(_ times: [ClockTime]) -> (times: [ClockTime], moved: Int) {
    if isAscending(times) { return (times, 0) }
    // A stream of pictures that says nothing of times.
    if times.count > 2, times.allSatisfy({ $0 == times[0] }) {
      return (times.indices.map { times[0] + ClockTime(sampleIndex: $0, rate: 25) }, times.count - 1)
    }
    var result = times
    var moved = 0
    var first = 0
    while first < times.count {
      // Frames that are not later than this one share the time until the next that is.
      let next = times[first...].firstIndex { $0 > times[first] } ?? times.count
      let step = next < times.count ? times[next] - times[first] : ClockTime(nanoseconds: 40_000_000)
      for frame in first + 1..<next {
        result[frame] =
          times[first] + ClockTime(nanoseconds: step.nanoseconds / Int64(next - first) * Int64(frame - first))
        moved += 1
      }
      first = next
    }
    // More frames than there are nanoseconds between two others have no times of their own.
    return isAscending(result) ? (result, moved) : (result.indices.map { ClockTime(sampleIndex: $0, rate: 25) }, moved)
  }
}
