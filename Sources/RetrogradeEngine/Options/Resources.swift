import Glibc
import Paths

/// Limits on the machine's resources that a run may use.
public struct Resources: Sendable, Codable {
  /// Largest number of bytes of decoded media in memory at once; 512 MiB by default.
  public var memory: ByteCount
  /// Directory for the spool files, which have no name and disappear with the process.
  public var spoolDirectory: String
  /// Number of shares into which the run's memory was divided; ``memory`` is one share.
  package private(set) var shares = 1

  /// - Parameters:
  ///   - memory: largest number of bytes of decoded media in memory at once.
  ///   - spoolDirectory: directory for the spool files; nil for ``temporaryDirectory``.
  public init(memory: ByteCount = ByteCount(512 << 20), spoolDirectory: String? = nil) {
    self.memory = memory
    self.spoolDirectory = spoolDirectory ?? Resources.temporaryDirectory
  }

  /// `TMPDIR`, or `/var/tmp` if `TMPDIR` is not set. `/tmp` is not the default, because it is often
  /// in memory, and the spool is meant to save memory.
  public static var temporaryDirectory: String {
    if let name = getenv("TMPDIR"), name.pointee != 0 { return String(cPath: name) }
    return "/var/tmp"
  }

  /// Returns the limits with one of `count` equal shares of the memory.
  package func shared(by count: Int) -> Resources {
    var part = Resources(memory: ByteCount(memory.bytes / max(count, 1)), spoolDirectory: spoolDirectory)
    part.shares = shares * max(count, 1)
    return part
  }
}
