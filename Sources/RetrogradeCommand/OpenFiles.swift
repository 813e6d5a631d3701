import Glibc
import RetrogradeEngine

/// Limit on the number of open files in this process (`ulimit -n`, `RLIMIT_NOFILE`).
enum OpenFiles {
  /// Smallest usable limit: reversing a small file opens up to 24 files. Below this limit,
  /// GStreamer fails to load plugins, and files appear to be damaged.
  private static let fewest: rlim_t = 64
  /// Highest limit that is safe for libraries that call `select`, which supports 1024 descriptors.
  private static let most: rlim_t = 1024

  /// Raises the limit as far as the system allows, up to 1024.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if the limit remains too low.
  static func check() throws {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < most else { return }
    limit.rlim_cur = min(limit.rlim_max, most)
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    guard limit.rlim_cur < fewest else { return }
    throw RetrogradeError(
      .inputOutput, "the limit on open files (ulimit -n) is too low: \(Int(limit.rlim_cur))",
      remedy: "raise it to \(Int(fewest)) or more")
  }
}
