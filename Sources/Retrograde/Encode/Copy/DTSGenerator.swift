import MediaTime

/// Generator of decoding times for one stream whose packets come from several encoders, which may
/// reorder frames differently. Packet n is decoded when frame n − d is shown, where d is the depth
/// of the deepest reordering. The first d packets are decoded during the ``lead``, before the first
/// frame is shown.
struct DTSGenerator {
  /// Time by which decoding precedes presentation.
  let lead: ClockTime
  private var times: [ClockTime] = []
  private var given = 0

  /// - Parameters:
  ///   - depth: reordering depth, as returned by ``depth(_:)``.
  ///   - step: approximate duration of a frame.
  init(depth: Int, step: ClockTime) {
    lead = ClockTime(nanoseconds: step.nanoseconds * Int64(depth))
    times = (0..<depth).map { ClockTime(nanoseconds: step.nanoseconds * Int64($0)) }
  }

  /// Adds presentation times of further frames, in order. The first frame of the stream must be
  /// shown at ``lead`` or later.
  mutating func add(_ shown: [ClockTime]) {
    times.removeFirst(given)
    given = 0
    times += shown
  }

  /// Returns the decoding time of the next packet, whose frame is shown at `shown`. Used for
  /// streams whose presentation times are not known in advance.
  mutating func next(shownAt shown: ClockTime) -> ClockTime? {
    if given > 256 { add([]) }
    var place = times.count
    while place > given, times[place - 1] > shown { place -= 1 }
    times.insert(shown, at: place)
    return next()
  }

  /// Returns the decoding time of the next packet; nil if too few presentation times were added.
  mutating func next() -> ClockTime? {
    guard given < times.count else { return nil }
    defer { given += 1 }
    return times[given]
  }

  /// Returns the reordering depth: the largest number of frames that come before a frame in the
  /// stream, but are shown after that frame.
  /// - Parameter times: presentation times in stream order.
  static func depth(_ times: [ClockTime]) -> Int {
    let places = Dictionary(uniqueKeysWithValues: Set(times).sorted().enumerated().map { ($1, $0) })
    return times.enumerated().map { $0 - (places[$1] ?? $0) }.max().map { max($0, 0) } ?? 0
  }
}
