import CSystemSupport
import Glibc
import Synchronization

/// An unlinked temporary file for what does not fit the memory budget. It has no name from the moment it is made, so
/// that nothing is left behind, however the process ends.
package final class Spool: Sendable {
  let descriptor: Int32
  private let directory: String
  private let length = Mutex(0)

  /// - Parameters:
  ///   - directory: where the file lives; the directory must exist and be writable.
  ///   - reserve: bytes that are going to be written, if known. Lack of room is found out here.
  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  package init(directory: String, reserve: Int = 0) throws {
    self.directory = directory
    let room = Spool.room(in: directory)
    if reserve > room {
      throw RetrogradeError(
        .inputOutput,
        "\(directory): the spool needs \(ByteCount(reserve)), and there is room for \(ByteCount(room)); "
          + "free some, or name another directory with --spool-dir")
    }
    var descriptor = system_open_unnamed(directory)
    if descriptor < 0 {  // file systems without O_TMPFILE
      var template = Array("\(directory)/retrograde-XXXXXX".utf8CString)
      descriptor = system_make_temporary(&template)
      if descriptor >= 0 { unlink(template) }
    }
    guard descriptor >= 0 else { throw Spool.failure(directory, "no spool file can be made") }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Bytes free in `directory` for a user without privileges; 0 if that can't be known.
  static func room(in directory: String) -> Int {
    var info = statvfs()
    guard statvfs(directory, &info) == 0 else { return 0 }
    return Int(clamping: UInt64(info.f_bavail).multipliedReportingOverflow(by: UInt64(info.f_frsize)).partialValue)
  }

  /// A name under which this process can open the file again.
  var path: String { "/proc/self/fd/\(descriptor)" }

  /// Writes at the end.
  /// - Returns: where the bytes lie.
  package func append(_ bytes: UnsafeRawBufferPointer) throws -> Int {
    let offset = length.withLock { length in
      defer { length += bytes.count }
      return length
    }
    var done = 0
    while done < bytes.count {
      guard let base = bytes.baseAddress else { break }
      let count = pwrite(descriptor, base + done, bytes.count - done, off_t(offset + done))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw Spool.failure(directory, "the spool can't be written") }
      done += count
    }
    return offset
  }

  /// Reads as many bytes as `bytes` has, from `offset`.
  package func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws {
    var done = 0
    while done < bytes.count {
      guard let base = bytes.baseAddress else { break }
      let count = pread(descriptor, base + done, bytes.count - done, off_t(offset + done))
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { throw Spool.failure(directory, "the spool can't be read") }
      done += count
    }
  }

  /// Gives back the room of everything from `offset` on; what was written last is read first.
  func truncate(to offset: Int) {
    length.withLock { length in
      if ftruncate(descriptor, off_t(offset)) == 0 { length = offset }
    }
  }

  private static func failure(_ directory: String, _ what: String) -> RetrogradeError {
    let advice = errno == ENOSPC ? "; free some room, or name another directory with --spool-dir" : ""
    return RetrogradeError(.inputOutput, "\(directory): \(what): \(String(cString: strerror(errno)))\(advice)")
  }
}
