import MediaTime

/// How fast a stretch of the source is played: 2 is twice as fast, 0.5 half as fast. It may change steadily on the way, so that after
/// each second of the output it has changed by as much.
public struct Speed: Hashable, Sendable, Codable {
  /// Speeds at the start and at the end, in the order of play; see ``limits``.
  public let first: Double
  public let last: Double

  public static let natural = Speed(1)

  /// Range of valid speeds.
  public static let limits = 0.01...100.0

  /// - Parameter speed: a speed outside ``limits`` is taken for the nearest in it.
  public init(_ speed: Double) { self.init(from: speed, to: speed) }

  /// A ramp.
  public init(from first: Double, to last: Double) {
    func possible(_ speed: Double) -> Double {
      min(max(speed.isNaN ? 1 : speed, Speed.limits.lowerBound), Speed.limits.upperBound)
    }
    (self.first, self.last) = (possible(first), possible(last))
  }

  package var isConstant: Bool { first == last }

  /// How long the first `distance` of a stretch of the source takes that is `length` long.
  ///
  /// Where speed v changes steadily in time, v² does so in distance: v² = first² + (last² - first²) distance / length.
  func time(toPlay distance: ClockTime, of length: ClockTime) -> ClockTime {
    if self == .natural || distance == .zero { return distance }
    let way = Double(distance.nanoseconds)
    guard !isConstant, length > .zero else { return ClockTime(nanoseconds: whole(way / first)) }
    let reached = max(first * first + (last * last - first * first) * way / Double(length.nanoseconds), 0).squareRoot()
    return ClockTime(nanoseconds: whole(2 * way / (first + reached)))
  }

  /// Length of such a stretch that has been played after `time`.
  func distance(after time: ClockTime, of length: ClockTime) -> ClockTime {
    if self == .natural || time == .zero { return time }
    let time = Double(time.nanoseconds)
    guard !isConstant, length > .zero else { return ClockTime(nanoseconds: whole(time * first)) }
    let total = 2 * Double(length.nanoseconds) / (first + last)
    return ClockTime(nanoseconds: whole(first * time + (last - first) * time * time / (2 * total)))
  }

  private func whole(_ value: Double) -> Int64 { Int64(exactly: value.rounded()) ?? (value < 0 ? .min / 4 : .max / 4) }
}
