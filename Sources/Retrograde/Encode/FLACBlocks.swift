import Quirks

/// Block size for short FLAC audio, small enough for two blocks. If a stream has only one block,
/// flacenc may lose that block (`Quirk.flacencSingleBlock`).
enum FLACBlocks {
  /// Smallest number of sample frames in a stream that flacenc can write without loss.
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
