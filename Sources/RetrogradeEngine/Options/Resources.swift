import Glibc
import Paths

/// Limits on the machine's resources that a run may use.
public struct Resources: Sendable, Codable {
  /// The most bytes of decoded media to hold at once. 512 MiB unless said otherwise.
  public var memory: ByteCount
  /// The folder of the spool files: they have no name, and are gone with the process.
  public var spoolDirectory: String
  /// Number of parts, of which this is one, that the memory of a run was divided into.
  package private(set) var shares = 1

  /// - Parameters:
  ///   - memory: the most bytes of decoded media to hold at once.
  ///   - spoolDirectory: nil: ``temporaryDirectory``.
  public init(memory: ByteCount = ByteCount(512 << 20), spoolDirectory: String? = nil) {
    self.memory = memory
    self.spoolDirectory = spoolDirectory ?? Resources.temporaryDirectory
  }

  /// `TMPDIR`, or `/var/tmp` where it is not set: `/tmp` is often in memory, which the spool is there to spare.
  public static var temporaryDirectory: String {
    if let name = getenv("TMPDIR"), name.pointee != 0 { return String(cPath: name) }
    return "/var/tmp"
  }

  /// One part of `count` equal ones of the memory.
  package func shared(by count: Int) -> Resources {
    var part = Resources(memory: ByteCount(memory.bytes / max(count, 1)), spoolDirectory: spoolDirectory)
    part.shares = shares * max(count, 1)
    return part
  }
}
