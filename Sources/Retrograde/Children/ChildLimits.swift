package import RetrogradeEngine

/// Limits of a child process. A child that exceeds one is killed.
package struct ChildLimits: Sendable {
  /// Longest time without a progress report. Does not count while this process is suspended too.
  package var silence: Duration
  /// Largest private memory, without mapped files.
  package var memory: ByteCount

  package init(silence: Duration, memory: ByteCount) { (self.silence, self.memory) = (silence, memory) }

  /// Default of ``silence``. The longest silent steps rewrite an encoded file, at the speed of the
  /// disk.
  package static let usualSilence = Duration.seconds(300)

  /// Memory limit of each of `count` children that share `budget` for decoded media.
  ///
  /// Encoders and decoders need more than the budget: usually up to 2 GiB, but more for AV1 and
  /// HEVC in 8K. A child may therefore take its share of half of the machine's memory if that is
  /// more.
  /// - Parameter machine: memory of the machine.
  package static func memory(
    budget: ByteCount, sharedBy count: Int, machine: ByteCount = ByteCount(machineBytes)
  ) -> ByteCount {
    let usual = (2 << 30) + min(budget.bytes, 1 << 50) * 4
    return ByteCount(max(usual, machine.bytes / 2 / max(count, 1)))
  }
}
