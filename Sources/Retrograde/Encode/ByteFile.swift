import Containers
import Glibc
import RetrogradeEngine
import Paths

/// File that is written by appending, or at given positions.
package final class ByteFile {
  private let name: String
  private let descriptor: Int32
  private var length = 0

  /// - Parameter name: the file's name in error messages.
  package init(_ path: String, for name: String) throws {
    self.name = name
    descriptor = open(path.cPath, O_WRONLY | O_TRUNC | O_CLOEXEC | O_CREAT, 0o666)
    guard descriptor >= 0 else { throw failure }
  }

  deinit { close(descriptor) }

  /// - Parameter offset: position in bytes; nil: the end of the file.
  package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int? = nil) throws {
    guard writeAll(bytes, to: descriptor, at: offset ?? length) else { throw failure }
    if offset == nil { length += bytes.count }
  }

  private var failure: RetrogradeError {
    RetrogradeError(.inputOutput, about: name, "can't be written: \(String(cString: strerror(errno)))")
  }
}
