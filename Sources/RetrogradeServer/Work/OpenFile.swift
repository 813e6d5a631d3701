import Containers
import Glibc
import RetrogradeEngine
import Paths

/// A file that is open, and may have no name any more.
final class OpenFile: Sendable {
  let size: Int
  private let descriptor: Int32
  private let path: String

  /// - Throws: ``RetrogradeError`` of code `inputOutput`.
  init(_ path: String) throws {
    let descriptor = open(path.cPath, O_RDONLY | O_CLOEXEC)
    var info = stat()
    guard descriptor >= 0, fstat(descriptor, &info) == 0 else {
      let reason = errno
      if descriptor >= 0 { close(descriptor) }
      throw RetrogradeError(reading: path, errno: reason)
    }
    (self.descriptor, self.path, size) = (descriptor, path, Int(info.st_size))
  }

  deinit { close(descriptor) }

  /// - Parameter range: of the file. Blocks.
  func read(_ range: Range<Int>) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: range.count) { buffer, filled in
      let room = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
      guard readAll(room, from: descriptor, at: range.lowerBound) else {
        throw RetrogradeError(reading: path, errno: errno)
      }
      filled = range.count
    }
  }
}
