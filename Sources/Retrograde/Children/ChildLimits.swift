package import RetrogradeEngine

/// Limits of a child process. A child that exceeds one is killed.
package struct ChildLimits: Sendable {
  /// Longest time without a report of progress. Time in which this process does not run either is not counted.
  package var silence: Duration
  /// Most memory of its own, without that of files it maps.
  package var memory: ByteCount

  package init(silence: Duration, memory: ByteCount) { (self.silence, self.memory) = (silence, memory) }

  /// Default of ``silence``. The longest silent steps rewrite a file that is already encoded, at the speed of the disk.
  package static let usualSilence = Duration.seconds(300)

  /// Limit for each of `count` children that share `budget` for decoded media.
  ///
  /// Encoders and decoders take memory beside that: seldom more than 2 GiB, but AV1 and HEVC in 8K do. A child may
  /// therefore take its part of half of the machine if that is more.
  /// - Parameter machine: memory of the machine.
  package static func memory(
    budget: ByteCount, sharedBy count: Int, machine: ByteCount = ByteCount(machineBytes)
  ) -> ByteCount {
    let usual = (2 << 30) + min(budget.bytes, 1 << 50) * 4
    return ByteCount(max(usual, machine.bytes / 2 / max(count, 1)))
  }
}
