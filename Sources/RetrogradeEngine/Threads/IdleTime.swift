package import MediaTime

/// For how long nothing has moved. It asks no clock: a machine that sleeps is not a pipeline that stands still.
package struct IdleTime: Sendable {
  package private(set) var length = ClockTime.zero
  private var seen: Int

  /// - Parameter count: of all that has moved so far.
  package init(count: Int = 0) { seen = count }

  /// `step` is over.
  /// - Parameter count: of all that has moved so far.
  package mutating func add(_ step: ClockTime, count: Int) {
    length = count == seen ? length + step : .zero
    seen = count
  }

  package mutating func reset() { length = .zero }
}
