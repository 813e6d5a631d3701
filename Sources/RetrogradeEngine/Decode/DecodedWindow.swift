package import GStreamer
import Synchronization

/// Decoded frames, pushed in display order and popped in reverse: in memory by reference, or in the spool.
package final class DecodedWindow: Sendable {
  private struct Entry: Sendable {
    /// The frame, or, if it is in the spool, all of it but its memory.
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

  /// Adds a frame; its pixels stay where the decoder put them, unless the decoder has only so many places, as hardware has: it
  /// would wait for those that are held here.
  package func push(_ frame: Buffer) {
    let frame = frame.isOfBoundedPool ? frame.deepCopy() : frame
    let bytes = frame.size
    gauge.held(bytes)
    entries.withLock { $0.append(Entry(buffer: frame, bytes: bytes, spoolOffset: nil)) }
  }

  /// Adds the memory of `more`, by reference, to the last buffer pushed, which is not in the spool.
  package func extendLast(with more: Buffer) {
    gauge.held(more.size)
    entries.withLock { entries in
      guard let last = entries.indices.last else { return }
      let longer = entries[last].buffer.shallowCopy()
      longer.append(memoryOf: more)
      entries[last] = Entry(buffer: longer, bytes: entries[last].bytes + more.size, spoolOffset: nil)
    }
  }

  /// Puts another frame in the place of the one pushed last.
  func replaceLast(with frame: Buffer) throws {
    _ = try pop()
    push(frame)
  }

  /// Moves the frame at `index` to the spool: the one copy of pixels that the engine makes, where memory does not
  /// suffice.
  package func moveToSpool(_ index: Int) throws {
    guard let spool, let entry = entries.withLock({ $0[index].spoolOffset == nil ? $0[index] : nil }) else { return }
    let offset = try entry.buffer.withBytes { try spool.append($0) }
    entries.withLock {
      $0[index] = Entry(buffer: entry.buffer.withoutMemory(), bytes: entry.bytes, spoolOffset: offset)
    }
    gauge.released(entry.bytes)
  }

  /// The frame at `index`, which stays.
  func frame(at index: Int) throws -> Buffer {
    let entry = entries.withLock { $0[index] }
    guard let offset = entry.spoolOffset, let spool else { return entry.buffer }
    let frame = entry.buffer.withoutMemory()
    frame.append(memoryOf: try Buffer(size: entry.bytes) { try spool.read($0, at: offset) })
    return frame
  }

  /// Gives up the first `count` frames.
  func dropFirst(_ count: Int) {
    entries.withLock { entries in
      for entry in entries.prefix(count) where entry.spoolOffset == nil { gauge.released(entry.bytes) }
      entries.removeFirst(min(count, entries.count))
    }
  }

  /// Takes the frame that was pushed last; nil when none is left.
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

/// Counter of the decoded media that the engine holds.
package final class MemoryGauge: Sendable {
  private let state = Mutex((now: 0, peak: 0))
  private let whole: MemoryGauge?

  /// - Parameter whole: the gauge that this one is a part of.
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

  /// Bytes held now.
  package var now: Int { state.withLock { $0.now } }
  /// The most bytes held so far.
  package var peak: Int { state.withLock { $0.peak } }
}
