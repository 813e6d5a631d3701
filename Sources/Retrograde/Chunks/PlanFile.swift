import FoundationEssentials
import Glibc
import RetrogradeEngine
import Synchronization
import Paths

/// `plan.json` of a work folder. The file stays open after reading, so that its inode number is not
/// reused. A plan that replaces the file therefore has another inode number, which reveals the
/// replacement.
final class PlanFile: Sendable {
  let path: String
  private let opened = Mutex<Int32>(-1)

  init(_ path: String) { self.path = path }

  deinit {
    let descriptor = opened.withLock { $0 }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Reads the file; nil if the file does not exist.
  func read() throws -> Data? {
    let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if [ENOENT, ENOTDIR].contains(errno) { return nil }
      throw RetrogradeError(.noInput, about: path, "\(String(cString: strerror(errno)))")
    }
    opened.withLock {
      if $0 >= 0 { close($0) }
      $0 = descriptor
    }
    guard let bytes = fileBytes(at: "/proc/self/fd/\(descriptor)") else {
      throw RetrogradeError(.inputOutput, about: path, "can't be read: \(String(cString: strerror(errno)))")
    }
    return Data(bytes)
  }

  /// True if the file that was read has been neither removed nor replaced by another plan.
  var isThere: Bool {
    guard let known, let now = FileStamp(path) else { return false }
    return known.number == now.number
  }

  /// True if the file at `path` was written after the plan file that was read.
  func isOlder(than path: String) -> Bool {
    guard let known, let other = FileStamp(path) else { return false }
    return known.modified.lexicographicallyPrecedes(other.modified)
  }

  private var known: FileStamp? { opened.withLock { FileStamp(descriptor: $0) } }
}

/// Inode number, size and modification time of a file. If the file is changed or replaced, the
/// stamp differs.
package struct FileStamp: Codable, Sendable, Equatable {
  /// Inode number.
  var number: UInt64
  package internal(set) var size: Int
  /// Seconds and nanoseconds since 1970.
  var modified: [Int]

  /// Creates the stamp of the file at `path`; nil if the file does not exist.
  package init?(_ path: String) {
    var info = stat()
    guard stat(path.cPath, &info) == 0 else { return nil }
    self.init(info)
  }

  /// Creates the stamp of an open file.
  package init?(descriptor: Int32) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { return nil }
    self.init(info)
  }

  private init(_ info: stat) {
    number = UInt64(info.st_ino)
    size = Int(info.st_size)
    modified = [info.st_mtim.tv_sec, info.st_mtim.tv_nsec]
  }
}
