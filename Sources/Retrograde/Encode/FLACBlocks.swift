import Quirks

/// Block size for short FLAC audio. If flacenc would lose the only block of a stream
/// (`Quirk.flacencSingleBlock`), the size is small enough for two blocks.
enum FLACBlocks {
  /// Fewest sample frames that flacenc can write.
  static var fewestSamples: Int { Quirk.flacencSingleBlock.applies ? smallest + 1 : 1 }
  /// Smallest block size of flacenc, in sample frames.
  private static let smallest = 16
  /// Default block size of flacenc, in sample frames.
  private static let usual = 4608

  /// Returns a block size, in sample frames, that gives at least two blocks; nil if the default
  /// size can be used.
  static func size(for samples: Int) -> Int? {
    guard Quirk.flacencSingleBlock.applies, samples <= usual else { return nil }
    return max(smallest, samples / 2)
  }
}
