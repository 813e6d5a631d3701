import Glibc
import Paths

/// Regular file with random access for reading and writing.
package final class RandomAccessFile {
  private let descriptor: Int32
  package let size: Int
  /// `errno` of the last failed read of a range within the file; nil if no read failed.
  package private(set) var readingFailure: Int32?
  private let isCancelled: () -> Bool
  /// Last block read, and its range: a cache, because headers are read in small steps.
  private var block: (place: Range<Int>, bytes: [UInt8]) = (0..<0, [])
  /// Smallest and largest block size. Blocks start small, because headers may be far apart. Each
  /// sequential read enlarges the next block.
  private static let blockSizes = 1 << 9...1 << 16

  /// Opens a regular file; nil if opening fails (`errno` says why). Nil for a pipe, because opening
  /// the pipe would block until a writer exists, and reading would consume its bytes.
  package init?(_ path: String, forWriting: Bool = false, isCancelled: @escaping () -> Bool = { false }) {
    var kind = stat()
    guard stat(path.cPath, &kind) == 0, kind.st_mode & S_IFMT == S_IFREG else { return nil }
    let descriptor = open(path.cPath, (forWriting ? O_RDWR : O_RDONLY) | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.isCancelled = isCancelled
    size = Int(info.st_size)
  }

  deinit { close(descriptor) }

  /// Reads the bytes in `range`.
  /// - Returns: nil if `range` exceeds the file, if the bytes cannot be read (see
  ///   ``readingFailure``), or if reading was cancelled.
  package func read(_ range: Range<Int>) -> [UInt8]? {
    guard range.lowerBound >= 0, range.upperBound <= size else { return nil }
    let sizes = RandomAccessFile.blockSizes
    if range.count > sizes.upperBound { return load(range) }
    if !(block.place.lowerBound <= range.lowerBound && range.upperBound <= block.place.upperBound) {
      let goesOn = block.place.contains(range.lowerBound - 1)
      let length = max(goesOn ? min(block.bytes.count * 4, sizes.upperBound) : sizes.lowerBound, range.count)
      let place = range.lowerBound..<min(range.lowerBound + length, size)
      guard let bytes = load(place) else { return nil }
      block = (place, bytes)
    }
    let start = range.lowerBound - block.place.lowerBound
    return Array(block.bytes[start..<start + range.count])
  }

  /// Returns the end of the empty RIFF chunks that start at `place`. An empty RIFF chunk has eight
  /// zero bytes, for its name and its length. Reads large blocks, because a file may have billions
  /// of empty RIFF chunks.
  func endOfEmptyChunks(at place: Int) -> Int {
    let step = 1 << 20
    var next = place
    while next < size, let bytes = read(next..<min(next + step, size)) {
      if let other = bytes.firstIndex(where: { $0 != 0 }) { return place + (next + other - place) / 8 * 8 }
      next += bytes.count
    }
    return max(next, place + 8)
  }

  private func load(_ range: Range<Int>) -> [UInt8]? {
    if isCancelled() { return nil }
    // Return early: for an empty range, Swift would write to the empty array that all threads
    // share, which is a data race.
    guard !range.isEmpty else { return [] }
    let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { room, count in
      let target = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[..<range.count])
      if readAll(target, from: descriptor, at: range.lowerBound) { count = range.count }
    }
    guard bytes.count == range.count else {
      readingFailure = errno
      return nil
    }
    return bytes
  }

  /// Writes `bytes` at `offset` of the file.
  /// - Returns: false on failure; `errno` says why.
  package func write(_ bytes: [UInt8], at offset: Int) -> Bool {
    block = (0..<0, [])
    return bytes.withUnsafeBytes { writeAll($0, to: descriptor, at: offset) }
  }

  /// Truncates the file to `count` bytes.
  /// - Returns: false on failure; `errno` says why.
  func truncate(to count: Int) -> Bool {
    block = (0..<0, [])
    return ftruncate(descriptor, off_t(count)) == 0
  }

  /// Reads an unsigned number of `count` bytes, at most eight; nil if the bytes extend beyond the
  /// file, or if the number exceeds `Int.max`.
  func number(at offset: Int, _ count: Int, isLittleEndian: Bool = false) -> Int? {
    read(offset..<offset + count).flatMap { bytes in
      let value = (isLittleEndian ? bytes.reversed() : bytes).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return Int(exactly: value)
    }
  }

  /// Reads the four-character code at `offset`; nil if it extends beyond the file.
  func text(at offset: Int) -> String? { read(offset..<offset + 4)?.text(0) }
}

/// Failure to read or change an output file.
package struct FileError: Error {
  /// System error number (`errno`); nil if the file lacks a required structure.
  package let number: Int32?
  /// Displayed name of the missing structure; empty for a system error.
  package let missing: String

  /// Error of the last failed system call.
  static var last: FileError { FileError(number: errno, missing: "") }
  static func missing(_ what: String) -> FileError { FileError(number: nil, missing: what) }
}
