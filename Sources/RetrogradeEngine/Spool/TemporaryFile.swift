import CSystemSupport
import Glibc
import Paths

/// A new file that has no name, so that nothing is left of it, however the process ends (`O_TMPFILE`, open(2)).
///
/// Some file systems (NFS, FAT, FUSE) have no such files: there it has a name that begins with `.retrograde-`.
package final class TemporaryFile: Sendable {
  package let descriptor: Int32
  /// Name of the file, if it needs one; its maker removes it.
  package let name: String?

  /// - Parameters:
  ///   - directory: the folder whose file system it lies on.
  ///   - mode: its permissions, less the process's mask.
  ///   - needsName: as if the file system had no files without a name.
  /// - Returns: nil where it can't be made; `errno` says why.
  package init?(in directory: String, mode: UInt32, needsName: Bool = false) {
    let unnamed = needsName ? -1 : system_open_unnamed(directory.cPath, mode)
    if unnamed >= 0, access(TemporaryFile.path(of: unnamed).cPath, F_OK) == 0 {
      descriptor = unnamed
      name = nil
      return
    }
    if unnamed >= 0 { close(unnamed) }  // without /proc nothing could open it again
    let name = TemporaryFile.name(in: directory)
    let named = open(name.cPath, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard named >= 0 else { return nil }
    descriptor = named
    self.name = name
  }

  deinit { close(descriptor) }

  /// Under which this process can open the file again, whether it has a name or not.
  package var path: String { name ?? TemporaryFile.path(of: descriptor) }

  private static func path(of descriptor: Int32) -> String { "/proc/self/fd/\(descriptor)" }

  /// A name in `directory` that nothing has.
  package static func name(in directory: String) -> String {
    "\(directory)/.retrograde-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }
}
