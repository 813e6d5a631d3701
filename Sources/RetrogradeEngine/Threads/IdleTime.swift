package import MediaTime

/// Time without progress. The time is a sum of waits and is not read from a clock, so that a
/// suspended machine does not look like a stalled pipeline.
package struct IdleTime: Sendable {
  package private(set) var length = ClockTime.zero
  private var seen: Int

  /// - Parameter count: number of items processed so far.
  package init(count: Int = 0) { seen = count }

  /// Adds an elapsed `step`, or resets the time if `count` has changed.
  /// - Parameter count: number of items processed so far.
  package mutating func add(_ step: ClockTime, count: Int) {
    length = count == seen ? length + step : .zero
    seen = count
  }

  package mutating func reset() { length = .zero }
}
