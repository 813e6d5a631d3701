import RetrogradeEngine
import Synchronization

/// LRU cache of finished parts, limited in bytes. Stored in an unnamed spool file, or in memory if
/// the file system cannot free ranges of a file.
final class ByteStore: Sendable {
  private struct Entry {
    let bytes: StoredBytes
    var used: Int
  }

  private struct State {
    var entries: [String: Entry] = [:]
    var size = 0
    var clock = 0
  }

  /// Maximum size of a cache in memory, in bytes.
  static let mostInMemory = 256 << 20

  private let spool: Spool?
  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - directory: folder of the spool file.
  ///   - capacity: maximum size of the cache in bytes; in memory, at most ``mostInMemory``.
  /// - Throws: ``RetrogradeError`` with the code `inputOutput`.
  init(directory: String, capacity: Int) throws {
    let spool = try Spool(directory: directory)
    let canFree = try [UInt8](repeating: 0, count: 1).withUnsafeBytes { bytes in
      let offset = try spool.appendBlocks(bytes)
      return spool.free(offset..<offset + 1)
    }
    self.spool = canFree ? spool : nil
    self.capacity = canFree ? capacity : min(capacity, ByteStore.mostInMemory)
  }

  /// Number of cached bytes.
  var size: Int { state.withLock { $0.size } }

  func find(_ key: String) -> StoredBytes? {
    state.withLock { state in
      state.clock += 1
      state.entries[key]?.used = state.clock
      return state.entries[key]?.bytes
    }
  }

  /// Caches bytes; removes older bytes with the same key. Blocks.
  /// - Returns: the bytes. They can be read as long as the returned object exists, even if they
  ///   were not cached.
  func add(_ key: String, _ bytes: [UInt8]) -> StoredBytes {
    // If the disk is full, the bytes are returned, but not cached.
    let stored = spool.flatMap { try? StoredBytes(bytes, in: $0) } ?? StoredBytes(bytes)
    guard stored.isSpooled || spool == nil else { return stored }
    // Free the removed bytes outside the lock.
    var gone: [StoredBytes] = []
    state.withLock { state in
      guard bytes.count <= capacity else { return }
      state.clock += 1
      if let old = state.entries.updateValue(Entry(bytes: stored, used: state.clock), forKey: key) {
        state.size -= old.bytes.count
        gone.append(old.bytes)
      }
      state.size += bytes.count
      while state.size > capacity, let oldest = state.entries.min(by: { $0.value.used < $1.value.used }) {
        state.entries[oldest.key] = nil
        state.size -= oldest.value.bytes.count
        gone.append(oldest.value.bytes)
      }
    }
    return stored
  }
}

/// Finished bytes. Their storage is freed when the last reference to this object is released.
final class StoredBytes: Sendable {
  private enum Place: Sendable {
    case memory([UInt8])
    case spool(Spool, offset: Int)
    case file(OpenFile)
  }

  let count: Int
  /// Unique number of these bytes. A part that is made again gets another number, because its bytes
  /// may differ.
  let number: UInt64
  private let place: Place

  init(_ bytes: [UInt8]) {
    (place, count, number) = (.memory(bytes), bytes.count, .random(in: .min ... .max))
  }

  init(_ bytes: [UInt8], in spool: Spool) throws {
    place = .spool(spool, offset: try bytes.withUnsafeBytes { try spool.appendBlocks($0) })
    (count, number) = (bytes.count, .random(in: .min ... .max))
  }

  init(_ file: OpenFile) {
    (place, count, number) = (.file(file), file.size, .random(in: .min ... .max))
  }

  deinit {
    if case .spool(let spool, let offset) = place { spool.free(offset..<offset + count) }
  }

  var isSpooled: Bool { if case .spool = place { true } else { false } }

  /// Reads the bytes in `range` that exist. Blocks.
  func read(_ range: Range<Int>) throws -> [UInt8] {
    let range = range.clamped(to: 0..<count)
    switch place {
    case .memory(let bytes): return Array(bytes[range])
    case .file(let file): return try file.read(range)
    case .spool(let spool, let offset):
      return try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
        try spool.read(
          UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count]),
          at: offset + range.lowerBound)
        filled = range.count
      }
    }
  }
}
