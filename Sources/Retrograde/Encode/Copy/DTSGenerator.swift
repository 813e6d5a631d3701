import MediaTime

/// When packets are to be decoded that several encoders have put into an order of their own: the n-th packet when the n-th
/// frame is shown, all of them earlier by as much as the deepest reordering takes.
struct DTSGenerator {
  /// Time by which packets are decoded earlier.
  let lead: ClockTime
  private var times: [ClockTime] = []
  private var given = 0

  /// - Parameters:
  ///   - depth: the most frames that come, in the stream, before one that is shown before them.
  ///   - step: how long a frame is shown, more or less.
  init(depth: Int, step: ClockTime) {
    lead = ClockTime(nanoseconds: step.nanoseconds * Int64(depth))
    times = (0..<depth).map { ClockTime(nanoseconds: step.nanoseconds * Int64($0)) }
  }

  /// Adds the times at which further frames are shown, in order; the first of all at ``lead`` or later.
  mutating func add(_ shown: [ClockTime]) {
    times.removeFirst(given)
    given = 0
    times += shown
  }

  /// When the next packet is to be decoded, whose frame is shown at `shown`; for those of which not all are known beforehand.
  mutating func next(shownAt shown: ClockTime) -> ClockTime? {
    if given > 256 { add([]) }
    var place = times.count
    while place > given, times[place - 1] > shown { place -= 1 }
    times.insert(shown, at: place)
    return next()
  }

  /// When the next packet is to be decoded.
  mutating func next() -> ClockTime? {
    guard given < times.count else { return nil }
    defer { given += 1 }
    return times[given]
  }

  /// The most frames that come, in a stream, before one that is shown before them.
  /// - Parameter times: when the frames are shown, in the order of the stream.
  static func depth(_ times: [ClockTime]) -> Int {
    let places = Dictionary(uniqueKeysWithValues: Set(times).sorted().enumerated().map { ($1, $0) })
    return times.enumerated().map { $0 - (places[$1] ?? $0) }.max().map { max($0, 0) } ?? 0
  }
}
