import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine

/// Buffers that came in since the segment began, in the order in which they came: in memory up to the budget,
/// and from there on, the oldest first, in the spool.
final class HeldMedia {
  struct Item {
    /// In the segment's time; nil where the buffer has none.
    var start: ClockTime?
    var end: ClockTime?
    /// Nil of a gap that came before any caps.
    var caps: Caps?
    /// A stretch without data.
    var isGap = false
  }

  private(set) var items: [Item] = []
  /// Caps of the buffers that are added.
  private var caps: Caps?
  private let window: DecodedWindow
  private let gauge: MemoryGauge
  private let budget: Int
  private var spooled = 0
  /// How many buffers the last item was made of.
  private var merged = 0

  init(budget: Int, spoolDirectory: String) throws {
    gauge = MemoryGauge()
    self.budget = budget
    window = DecodedWindow(spool: try Spool(directory: spoolDirectory), gauge: gauge)
  }

  /// Sets the caps of the buffers that are added from now on.
  func setCaps(_ new: Caps) {
    if caps.map({ $0.isEqual(new) }) != true { caps = new }
  }

  func add(_ buffer: Buffer, start: ClockTime?, end: ClockTime?) throws {
    items.append(Item(start: start, end: end, caps: caps))
    window.push(buffer)
    merged = 1
    while gauge.now > budget, spooled < window.count - 1 {
      try window.moveToSpool(spooled)
      spooled += 1
    }
  }

  /// Adds audio to the last item, if it follows that without a gap: buffers of audio are short, and each would cost as much
  /// again to keep account of.
  /// - Returns: whether it was added.
  func extendLast(with buffer: Buffer, start: ClockTime?, end: ClockTime?) -> Bool {
    // A GstBuffer holds 16 memories; more are copied into one.
    guard let last = items.last, !last.isGap, last.caps === caps, merged < 16, spooled < window.count,
      let before = last.end, let start, (start - before).nanoseconds.magnitude < 100_000
    else { return false }
    merged += 1
    window.extendLast(with: buffer)
    items[items.count - 1].end = end
    return true
  }

  func addGap(start: ClockTime, end: ClockTime) {
    items.append(Item(start: start, end: end, caps: caps, isGap: true))
  }

  /// Sets the end of the last item.
  func endLast(at end: ClockTime) {
    if !items.isEmpty { items[items.count - 1].end = end }
  }

  /// Takes the last item; nil when none is left.
  func takeLast() throws -> (item: Item, buffer: Buffer?)? {
    guard let item = items.popLast() else { return nil }
    if item.isGap { return (item, nil) }
    let buffer = try window.pop()
    spooled = min(spooled, window.count)
    return (item, buffer)
  }
}
