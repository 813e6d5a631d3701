import CSystemSupport
import Containers
import Glibc
import Retrograde
import RetrogradeEngine
import Paths

/// Open file, possibly unlinked.
final class OpenFile: Sendable {
  /// Size in bytes when the file was opened.
  let size: Int
  /// Stamp of the file when it was opened.
  let stamp: FileStamp
  private let descriptor: Int32
  private let name: String

  /// - Throws: ``RetrogradeError`` with the code `inputOutput`.
  init(_ path: String) throws {
    let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw RetrogradeError(reading: path, errno: errno) }
    guard let stamp = FileStamp(descriptor: descriptor) else {
      let reason = errno
      close(descriptor)
      throw RetrogradeError(reading: path, errno: reason)
    }
    (self.descriptor, self.name, self.stamp, size) = (descriptor, path, stamp, stamp.size)
  }

  /// Opens a non-empty regular file.
  ///
  /// The path is looked up only once, because a link in the path may change at any moment. Type and
  /// real path are then read from the file that was found. Devices and pipes are not opened.
  /// - Parameter root: real path of the folder that must contain the file after links are resolved;
  ///   nil for any folder.
  /// - Returns: nil if there is no such file, or if the file cannot be read.
  init?(plainFile path: String, in root: String? = nil) {
    let found = system_find(path.cPath)
    guard found >= 0 else { return nil }
    defer { close(found) }
    var info = stat()
    guard fstat(found, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size > 0 else { return nil }
    if let root {
      guard let real = OpenFile.realPath(of: found),
        real.utf8.starts(with: (root.hasSuffix("/") ? root : root + "/").utf8)
      else {
        return nil
      }
    }
    let descriptor = open(OpenFile.path(of: found).cPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    guard let stamp = FileStamp(descriptor: descriptor) else {
      close(descriptor)
      return nil
    }
    (self.descriptor, self.name, self.stamp, size) = (descriptor, path, stamp, stamp.size)
  }

  deinit { close(descriptor) }

  /// Path under which this process and its children can open the file while this object lives.
  var path: String { OpenFile.path(of: descriptor) }

  private static func path(of descriptor: Int32) -> String { "/proc/\(getpid())/fd/\(descriptor)" }

  /// Returns the current path of the file, without links; nil if unknown.
  private static func realPath(of descriptor: Int32) -> String? {
    let most = Int(PATH_MAX)
    let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, filled in
      guard let start = buffer.baseAddress else { return }
      filled = max(readlink(path(of: descriptor).cPath, start, most), 0)
    }
    guard (1..<most).contains(bytes.count) else { return nil }
    return String(pathBytes: bytes)
  }

  /// Reads the bytes in `range`. Blocks.
  func read(_ range: Range<Int>) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
      let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
      guard readAll(room, from: descriptor, at: range.lowerBound) else {
        throw RetrogradeError(reading: name, errno: errno)
      }
      filled = range.count
    }
  }
}
