import CSystemSupport
import Containers
import Glibc
import Synchronization
import Paths

/// Unlinked temporary file for data that does not fit the memory budget, or that can be read only
/// once. Nothing is left behind, however the process ends.
///
/// For a source that is opened only to be described, the spool counts the bytes and stores none.
package final class Spool: Sendable {
  private let file: TemporaryFile?
  var descriptor: Int32 { file?.descriptor ?? -1 }
  private let directory: String
  /// True if written bytes can be read.
  var keepsBytes: Bool { file != nil }
  private let length = Mutex(0)

  /// - Parameters:
  ///   - directory: existing, writable directory for the file; nil to store nothing.
  ///   - reserve: number of bytes that will be written, if known. Creation fails if the disk has no
  ///     room for them.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  package init(directory: String?, reserve: Int = 0) throws {
    self.directory = directory ?? ""
    guard let directory else {
      file = nil
      return
    }
    let room = Spool.room(in: directory)
    if reserve > room {
      throw RetrogradeError(
        .inputOutput,
        about: directory, "temporary files need \(ByteCount(reserve)), but only \(ByteCount(room)) is free",
        remedy: "free some space, or use another folder with \(setting: .spoolDirectory)")
    }
    guard let file = TemporaryFile(in: directory, mode: 0o600) else {
      throw Spool.failure(directory, "no temporary file can be created")
    }
    if let name = file.name { unlink(name.cPath) }
    self.file = file
  }

  /// Returns the number of free bytes in `directory` for a user without privileges; 0 if unknown.
  package static func room(in directory: String) -> Int {
    var info = statvfs()
    guard statvfs(directory.cPath, &info) == 0 else { return 0 }
    return Int(clamping: UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue)
  }

  /// Path under which this process can open the file again.
  package var path: String { "/proc/self/fd/\(descriptor)" }

  /// Appends bytes.
  /// - Returns: offset of the bytes in the file.
  package func append(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    let offset = length.withLock { length in
      defer { length += bytes.count }
      return length
    }
    guard file == nil || writeAll(bytes, to: descriptor, at: offset) else {
      throw Spool.failure(directory, "a temporary file can't be written")
    }
    return offset
  }

  /// Appends bytes at the next block boundary, so that ``free(_:)`` can release all of them.
  /// - Returns: offset of the bytes in the file.
  package func appendBlocks(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    let room = (bytes.count + Spool.block - 1) / Spool.block * Spool.block
    let offset = length.withLock { length in
      let start = (length + Spool.block - 1) / Spool.block * Spool.block
      length = start + room
      return start
    }
    guard file == nil || writeAll(bytes, to: descriptor, at: offset) else {
      throw Spool.failure(directory, "a temporary file can't be written")
    }
    return offset
  }

  /// Releases the disk space of bytes that ``appendBlocks(_:)`` wrote. The bytes must not be read
  /// again.
  /// - Returns: false if the file system does not support this.
  @discardableResult
  package func free(_ bytes: Range<Int>) -> Bool {
    let room = (bytes.count + Spool.block - 1) / Spool.block * Spool.block
    return bytes.isEmpty || system_punch_hole(descriptor, bytes.lowerBound, room) == 0
  }

  /// Usual block size of file systems that support holes, in bytes.
  private static let block = 4096

  /// Fills `bytes` with the bytes of the file from `offset` on.
  package func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    guard keepsBytes else {
      throw RetrogradeError(
        .internalFailure, "frames or samples were requested from a source that was opened only to list its contents")
    }
    guard readAll(bytes, from: descriptor, at: offset) else {
      throw Spool.failure(directory, "a temporary file can't be read")
    }
  }

  /// Size of the file in bytes, including bytes not written by this object.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  package var size: Int {
    get throws {
      var info = stat()
      guard fstat(descriptor, &info) == 0 else { throw Spool.failure(directory, "a temporary file can't be read") }
      return Int(info.st_size)
    }
  }

  /// Releases the disk space from `offset` on. Spooled bytes are read last first, so the bytes from
  /// `offset` on are no longer needed.
  func truncate(to offset: Int) {
    length.withLock { length in
      if !keepsBytes || ftruncate(descriptor, off_t(offset)) == 0 { length = offset }
    }
  }

  private static func failure(_ directory: String, _ what: String) -> RetrogradeError {
    let reason = errno
    return RetrogradeError(
      .inputOutput, about: directory, "\(what): \(String(cString: strerror(reason)))",
      remedy: reason == ENOSPC
        ? "free some space, or use another folder with \(setting: .spoolDirectory)" : nil)
  }
}
