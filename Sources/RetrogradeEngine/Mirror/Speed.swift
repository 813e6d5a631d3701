import MediaTime

/// Speed at which a part of the source is played: 2 is twice as fast, 0.5 half as fast. A ramp
/// changes the speed by the same amount in each second of the output.
public struct Speed: Hashable, Sendable, Codable {
  /// Speed at the start, in the order of play; within ``limits``.
  public let first: Double
  /// Speed at the end, in the order of play; within ``limits``.
  public let last: Double

  public static let natural = Speed(1)

  /// Range of valid speeds.
  public static let limits = 0.01...100.0

  /// - Parameter speed: a speed outside ``limits`` is clamped.
  public init(_ speed: Double) { self.init(from: speed, to: speed) }

  /// Creates a ramp.
  public init(from first: Double, to last: Double) {
    func possible(_ speed: Double) -> Double {
      min(max(speed.isNaN ? 1 : speed, Speed.limits.lowerBound), Speed.limits.upperBound)
    }
    (self.first, self.last) = (possible(first), possible(last))
  }

  package var isConstant: Bool { first == last }

  /// Returns the output duration of the first `distance` of a source part whose length is `length`.
  ///
  /// If speed v changes linearly in time, v² changes linearly in distance: v² = first² + (last² -
  /// first²) distance / length.
  func time(toPlay distance: ClockTime, of length: ClockTime) -> ClockTime {
    if self == .natural || distance == .zero { return distance }
    let way = Double(distance.nanoseconds)
    guard !isConstant, length > .zero else { return ClockTime(nanoseconds: whole(way / first)) }
    let reached = max(first * first + (last * last - first * first) * way / Double(length.nanoseconds), 0).squareRoot()
    return ClockTime(nanoseconds: whole(2 * way / (first + reached)))
  }

  /// Returns the distance in the source that is played during the first `time` of output, in a
  /// source part whose length is `length`.
  func distance(after time: ClockTime, of length: ClockTime) -> ClockTime {
    if self == .natural || time == .zero { return time }
    let time = Double(time.nanoseconds)
    guard !isConstant, length > .zero else { return ClockTime(nanoseconds: whole(time * first)) }
    let total = 2 * Double(length.nanoseconds) / (first + last)
    return ClockTime(nanoseconds: whole(first * time + (last - first) * time * time / (2 * total)))
  }

  private func whole(_ value: Double) -> Int64 { Int64(exactly: value.rounded()) ?? (value < 0 ? .min / 4 : .max / 4) }
}
