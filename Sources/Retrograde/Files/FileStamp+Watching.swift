import Glibc
import Paths

extension FileStamp {
  /// Creates the stamp of a regular file of at least `size` bytes; nil if the file is smaller or
  /// not a regular file.
  package init?(plainFile path: String, atLeast size: Int) {
    var info = stat()
    guard stat(path.cPath, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size >= size else { return nil }
    self.init(path)
  }

  /// True if both files exist, and `path` was modified at the same time as `other`, or later.
  package static func isNewer(_ path: String, than other: String) -> Bool {
    guard let own = FileStamp(path), let others = FileStamp(other) else { return false }
    return !own.modified.lexicographicallyPrecedes(others.modified)
  }
}
