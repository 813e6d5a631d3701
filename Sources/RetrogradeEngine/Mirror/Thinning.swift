import MediaTime

/// Leaves out frames of the output as they come, so that no more than so many are shown in a second: of those in each slot the one stays
/// that is on show after its first quarter, from the slot's start. As ``VideoTimeline/thinned(to:from:)``, which knows all before.
struct Thinning {
  private let rate: FrameRate
  private let quarter: ClockTime
  private var slot: Int

  init(_ rate: FrameRate, from start: ClockTime) {
    self.rate = rate
    quarter = ClockTime(nanoseconds: rate.start(of: 1).nanoseconds / 4)
    slot = rate.count(before: start)
  }

  /// When the next frame is shown, which would be on show during `shown`; nil: not at all.
  mutating func place(_ shown: TimeSpan) -> TimeSpan? {
    let first = max(slot, rate.count(before: shown.start - quarter))
    let next = rate.count(before: shown.end - quarter)
    guard first < next else { return nil }
    slot = next
    return TimeSpan(start: rate.start(of: first), end: rate.start(of: next))
  }
}
