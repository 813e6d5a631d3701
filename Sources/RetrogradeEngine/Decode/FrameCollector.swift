import GStreamer

/// Takes decoded frames in display order, keeps the last ones in memory and the others in the spool, and notes when each is
/// shown.
package struct FrameCollector {
  package let frames: DecodedWindow
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

  /// - Returns: false if the frame starts at or after `limit`: it, and what follows, is not wanted.
  package mutating func add(_ sample: Sample, before limit: ClockTime? = nil) throws -> Bool {
    guard let time = given.map({ times.count < $0.count ? $0[times.count] : nil }) ?? sample.streamTime ?? times.last
    else { return true }
    // Frames that begin before an edit, or after its end, are no part of the presentation.
    if time < sample.segment.time { return true }
    if let limit, time >= limit { return false }
    if let last = times.last, time <= last {
      if time == last { try frames.replaceLast(with: sample.buffer) }
      return true
    }
    frames.push(sample.buffer)
    times.append(time)
    if times.count > held { try frames.moveToSpool(times.count - 1 - held) }
    return true
  }
}
