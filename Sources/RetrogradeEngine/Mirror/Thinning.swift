import MediaTime

/// Drops output frames as they arrive, to limit the frame rate. Time is divided into slots of one
/// output frame each. A slot keeps the frame that is on screen after the slot's first quarter, and
/// shows this frame from the slot's start. ``VideoTimeline/thinned(to:from:)`` does the same if all
/// times are known in advance.
struct Thinning {
  private let rate: FrameRate
  private let quarter: ClockTime
  private var slot: Int

  init(_ rate: FrameRate, from start: ClockTime) {
    self.rate = rate
    quarter = ClockTime(nanoseconds: rate.start(of: 1).nanoseconds / 4)
    slot = rate.count(before: start)
  }

  /// Returns the output time of the next frame; nil if the frame is dropped.
  /// - Parameter shown: output time of the frame without thinning.
  mutating func place(_ shown: TimeSpan) -> TimeSpan? {
    let first = max(slot, rate.count(before: shown.start - quarter))
    let next = rate.count(before: shown.end - quarter)
    guard first < next else { return nil }
    slot = next
    return TimeSpan(start: rate.start(of: first), end: rate.start(of: next))
  }
}
