package import GStreamer
import Synchronization

/// Decoded frames, pushed in display order and popped in reverse. Each frame is in memory,
/// referenced without a copy, or in the spool (a temporary file).
package final class DecodedWindow: Sendable {
  private struct Entry: Sendable {
    /// The frame, without its memory if the memory is in the spool.
    var buffer: Buffer
    var bytes: Int
    var spoolOffset: Int?
  }
  private let entries = Mutex<[Entry]>([])
  private let spool: Spool?
  private let gauge: MemoryGauge

  package init(spool: Spool?, gauge: MemoryGauge) {
    self.spool = spool
    self.gauge = gauge
  }

  deinit { entries.withLock { $0.forEach { if $0.spoolOffset == nil { gauge.released($0.bytes) } } } }

  package var count: Int { entries.withLock { $0.count } }

  /// Adds a frame by reference. A frame from a bounded pool, such as the pool of a hardware
  /// decoder, is copied. If this window kept the pool's frames, the decoder would wait for their
  /// release.
  package func push(_ frame: Buffer) {
    let frame = frame.isOfBoundedPool ? frame.deepCopy() : frame
    let bytes = frame.size
    gauge.held(bytes)
    entries.withLock { $0.append(Entry(buffer: frame, bytes: bytes, spoolOffset: nil)) }
  }

  /// Appends the memory of `more`, by reference, to the last pushed buffer, which must not be in
  /// the spool.
  package func extendLast(with more: Buffer) {
    gauge.held(more.size)
    entries.withLock { entries in
      guard let last = entries.indices.last else { return }
      let longer = entries[last].buffer.shallowCopy()
      longer.append(memoryOf: more)
      entries[last] = Entry(buffer: longer, bytes: entries[last].bytes + more.size, spoolOffset: nil)
    }
  }

  /// Replaces the last pushed frame.
  func replaceLast(with frame: Buffer) throws {
    _ = try pop()
    push(frame)
  }

  /// Moves the frame at `index` to the spool, which copies its pixels. Call this only if memory is
  /// short.
  package func moveToSpool(_ index: Int) throws {
    guard let spool, let entry = entries.withLock({ $0[index].spoolOffset == nil ? $0[index] : nil }) else { return }
    let offset = try entry.buffer.withBytes { try spool.append($0) }
    entries.withLock {
      $0[index] = Entry(buffer: entry.buffer.withoutMemory(), bytes: entry.bytes, spoolOffset: offset)
    }
    gauge.released(entry.bytes)
  }

  /// Returns the frame at `index` without removing it.
  func frame(at index: Int) throws -> Buffer {
    let entry = entries.withLock { $0[index] }
    guard let offset = entry.spoolOffset, let spool else { return entry.buffer }
    let frame = entry.buffer.withoutMemory()
    frame.append(memoryOf: try Buffer(size: entry.bytes) { try spool.read($0, at: offset) })
    return frame
  }

  /// Releases the first `count` frames.
  func dropFirst(_ count: Int) {
    entries.withLock { entries in
      for entry in entries.prefix(count) where entry.spoolOffset == nil { gauge.released(entry.bytes) }
      entries.removeFirst(min(count, entries.count))
    }
  }

  /// Removes and returns the last pushed frame; nil if none is left.
  package func pop() throws -> Buffer? {
    guard let entry = entries.withLock({ $0.popLast() }) else { return nil }
    guard let offset = entry.spoolOffset, let spool else {
      gauge.released(entry.bytes)
      return entry.buffer
    }
    let memory = try Buffer(size: entry.bytes) { try spool.read($0, at: offset) }
    spool.truncate(to: offset)
    entry.buffer.append(memoryOf: memory)
    return entry.buffer
  }
}

/// Counts the bytes of decoded media in the engine's memory.
package final class MemoryGauge: Sendable {
  private let state = Mutex((now: 0, peak: 0))
  private let whole: MemoryGauge?

  /// - Parameter whole: gauge that also counts the bytes of this gauge.
  package init(within whole: MemoryGauge? = nil) { self.whole = whole }

  func held(_ bytes: Int) {
    whole?.held(bytes)
    state.withLock { state in
      state.now += bytes
      state.peak = max(state.peak, state.now)
    }
  }

  func released(_ bytes: Int) {
    whole?.released(bytes)
    state.withLock { $0.now -= bytes }
  }

  /// Number of bytes in memory now.
  package var now: Int { state.withLock { $0.now } }
  /// Largest number of bytes in memory so far.
  package var peak: Int { state.withLock { $0.peak } }
}
