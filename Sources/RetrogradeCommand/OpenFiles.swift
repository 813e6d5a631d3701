import Glibc
import RetrogradeEngine

/// Limit of open files in this process (`ulimit -n`, `RLIMIT_NOFILE`).
enum OpenFiles {
  /// A small file needs up to 24. Below this limit, GStreamer's plugins appear to be missing, and
  /// files damaged.
  private static let fewest: rlim_t = 64
  /// Limit for libraries that call select(2).
  private static let most: rlim_t = 1024

  /// Raises the limit as far as allowed, up to the usual one.
  /// - Throws: ``RetrogradeError`` of code `inputOutput` if it is too low.
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
