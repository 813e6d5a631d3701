import CGStreamer
import GStreamer
import MediaTime
import RetrogradeEngine

/// Buffers received since the GStreamer segment began, in order. Up to the budget, buffers stay in
/// memory; beyond the budget, the oldest buffers move to the spool.
final class BufferedMedia {
  struct Item {
    /// Start in the GStreamer segment's time; nil if the buffer has no timestamp.
    var start: ClockTime?
    var end: ClockTime?
    /// nil for a gap that arrived before any caps.
    var caps: Caps?
    /// True for a gap event, without data.
    var isGap = false
  }

  private(set) var items: [Item] = []
  /// Caps of the buffers that are added next.
  private var caps: Caps?
  private let window: DecodedWindow
  private let gauge: MemoryGauge
  private let budget: Int
  private var spooled = 0
  /// Number of buffers merged into the last item.
  private var merged = 0

  init(budget: Int, spoolDirectory: String) throws {
    gauge = MemoryGauge()
    self.budget = budget
    window = DecodedWindow(spool: try Spool(directory: spoolDirectory), gauge: gauge)
  }

  /// Sets the caps of the buffers that are added next.
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

  /// Appends audio to the last item if the audio follows without a gap. Audio buffers are short, so
  /// bookkeeping for each buffer would double the memory.
  /// - Returns: true if the audio was appended.
  func extendLast(with buffer: Buffer, start: ClockTime?, end: ClockTime?) -> Bool {
    // A GstBuffer has at most 16 GstMemory objects. If more are added, GStreamer copies all of them
    // into one, so start a new item instead.
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

  /// Removes and returns the last item; nil if none is left.
  func takeLast() throws -> (item: Item, buffer: Buffer?)? {
    guard let item = items.popLast() else { return nil }
    if item.isGap { return (item, nil) }
    let buffer = try window.pop()
    spooled = min(spooled, window.count)
    return (item, buffer)
  }
}
