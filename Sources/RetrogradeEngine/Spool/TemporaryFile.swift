import CSystemSupport
import Glibc
import Paths

/// A temporary file without a name, so that nothing is left behind, however the process ends
/// (`O_TMPFILE`).
///
/// Some file systems (NFS, FAT, FUSE) do not support files without a name. On these file systems,
/// the file has a name that begins with `.retrograde-`.
package final class TemporaryFile: Sendable {
  package let descriptor: Int32
  /// Path of the file if it has a name; nil otherwise. The code that created this object must
  /// remove a file with a name.
  package let name: String?

  /// - Parameters:
  ///   - directory: directory on whose file system the file is created.
  ///   - mode: permissions, reduced by the process's umask.
  ///   - needsName: true to create a file with a name even if the file system does not need one.
  /// - Returns: nil if the file can't be created; `errno` has the reason.
  package init?(in directory: String, mode: UInt32, needsName: Bool = false) {
    let unnamed = needsName ? -1 : system_open_unnamed(directory.cPath, mode)
    if unnamed >= 0, access(TemporaryFile.path(of: unnamed).cPath, F_OK) == 0 {
      descriptor = unnamed
      name = nil
      return
    }
    if unnamed >= 0 { close(unnamed) }  // without /proc, the file could not be opened again
    let name = TemporaryFile.name(in: directory)
    let named = open(name.cPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard named >= 0 else { return nil }
    descriptor = named
    self.name = name
  }

  deinit { close(descriptor) }

  /// Path under which this process can open the file again.
  package var path: String { name ?? TemporaryFile.path(of: descriptor) }

  private static func path(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

  /// Returns an unused path in `directory`, chosen at random.
  package static func name(in directory: String) -> String {
    "\(directory)/.retrograde-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }
}
