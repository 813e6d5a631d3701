package import RetrogradeEngine

/// Limits of a child process. A child that exceeds a limit is killed.
package struct ChildLimits: Sendable {
  /// Longest time without a progress report. Time during which both the child and the parent are
  /// suspended does not count.
  package var silence: Duration
  /// Largest amount of private memory, which excludes mapped files.
  package var memory: ByteCount

  package init(silence: Duration, memory: ByteCount) { (self.silence, self.memory) = (silence, memory) }

  /// Default of ``silence``. The longest step without a report rewrites an encoded file, at the
  /// speed of the disk.
  package static let usualSilence = Duration.seconds(300)

  /// Computes the memory limit of each of `count` children that share `budget` for decoded media.
  ///
  /// The limit is 2 GiB plus four times the budget, but at least the child's share of half of the
  /// machine's memory. Encoders and decoders need memory besides the budget: usually up to 2 GiB,
  /// but more for AV1 and HEVC in 8K.
  /// - Parameter machine: size of the machine's memory.
  package static func memory(
    budget: ByteCount, sharedBy count: Int, machine: ByteCount = ByteCount(machineBytes)
  ) -> ByteCount {
    let usual = (2 << 30) + min(budget.bytes, 1 << 50) * 4
    return ByteCount(max(usual, machine.bytes / 2 / max(count, 1)))
  }
}
